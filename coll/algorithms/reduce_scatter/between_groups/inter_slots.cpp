// SPDX-License-Identifier: BSD-3-Clause
// Reduce_scatter(_block) of small vectors between two groups: everybody writes their whole operand into their slot, and
// reduces their own share of the other group's slots. One step; s bytes written, the own share of q operands read.
#include <numeric>

#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/groups/two_groups.hpp"
#include "coll/blocks/reduce/fold_slots.hpp"

namespace tutti::coll::algorithms::reduce_scatter {

template <class Env>
Task inter_slots(Env& env, ReduceScatterArgs const& a) {
    TwoGroups const groups(env, a);
    env.load(env.slot(a.bytes()), operand(a), 0, a.bytes());
    env.publish();
    for (int i = 0; i < groups.other.size(); ++i) co_await env.until(groups.nth_other(i));
    auto const mine = a.counts.begin() + groups.place();
    fold_slots(env, a, groups.other.first, groups.other.last - 1,
               std::accumulate(a.counts.begin(), mine, std::int64_t{0}), *mine);
}

extern constinit const Algorithm<ReduceScatterArgs> inter_slots_algorithm = {
    "inter_slots",
    "every rank reduces its share of the other group's slots",
    Family::tutti,
    "Tutti",
    requires_slot | requires_two_groups,
    {},
    TUTTI_RUNS(inter_slots)};

}   // namespace tutti::coll::algorithms::reduce_scatter
