// SPDX-License-Identifier: BSD-3-Clause
// Allreduce of small messages between two groups in one exchange: write your slot, read all of the other group's in
// rank order. One step; s bytes written, q·s read and reduced by each rank, with q ranks in the other group.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/groups/two_groups.hpp"
#include "coll/blocks/reduce/fold_slots.hpp"

namespace tutti::coll::algorithms::allreduce {

template <class Env>
Task inter_slots(Env& env, ReduceArgs const& a) {
    TwoGroups const groups(env, a);
    env.load(env.slot(a.bytes()), operand(a), 0, a.bytes());
    env.publish();
    for (int i = 0; i < groups.other.size(); ++i) co_await env.until(groups.nth_other(i));
    fold_slots(env, a, groups.other.first, groups.other.last - 1, 0, a.count);
}

extern constinit const Algorithm<ReduceArgs> inter_slots_algorithm = {"inter_slots",
                                                                      "every rank reduces the other group's slots",
                                                                      Family::tutti,
                                                                      "Tutti",
                                                                      requires_slot | requires_two_groups,
                                                                      {},
                                                                      TUTTI_RUNS(inter_slots)};

}   // namespace tutti::coll::algorithms::allreduce
