// SPDX-License-Identifier: BSD-3-Clause
// Scatter(v) from a root in the other group: a message to each leaf, all under way at once. The root's own group has
// nothing to do. One step for the leaves.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/groups/linear.hpp"

namespace tutti::coll::algorithms::scatter {

template <class Env>
Task inter_linear(Env& env, RootedArgs const& a) {
    TwoGroups const groups(env, a);
    Parts const mine = Parts::same(a.mine.address, a.mine.count, *a.mine.type);
    if (groups.rank == a.root) return exchange_with(env, groups, groups.counterparts(a.root), {}, a.parts, mine);
    return exchange_with(env, groups, {}, groups.counterparts(a.root), a.parts, mine);
}

extern constinit const Algorithm<RootedArgs> inter_linear_algorithm = {
    "inter_linear",
    "the root sends to every rank of the other group",
    Family::baseline,
    "folklore",
    requires_two_groups,
    {},
    TUTTI_RUNS_ANYWHERE(inter_linear)};

}   // namespace tutti::coll::algorithms::scatter
