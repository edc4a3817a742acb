// SPDX-License-Identifier: BSD-3-Clause
// Reduce of small messages from one group to a root in the other: everybody writes their slot and returns, the root
// reduces them in rank order. The root's own group has nothing to do. One step; q·s bytes written, q·s read.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/groups/two_groups.hpp"
#include "coll/blocks/reduce/fold_slots.hpp"

namespace tutti::coll::algorithms::reduce {

template <class Env>
Task inter_slots(Env& env, ReduceArgs const& a) {
    Ranks const others = TwoGroups(env, a).other;
    if (env.rank() == a.root) {
        for (int peer = others.first; peer < others.last; ++peer) co_await env.until(peer);
        fold_slots(env, a, others.first, others.last - 1, 0, a.count);
    } else if (others.has(a.root)) {
        env.load(env.slot(a.bytes()), operand(a), 0, a.bytes());
        env.publish();
    }
}

extern constinit const Algorithm<ReduceArgs> inter_slots_algorithm = {"inter_slots",
                                                                      "the root reduces the other group's slots",
                                                                      Family::tutti,
                                                                      "Tutti",
                                                                      requires_slot | requires_two_groups,
                                                                      {},
                                                                      TUTTI_RUNS(inter_slots)};

}   // namespace tutti::coll::algorithms::reduce
