// SPDX-License-Identifier: BSD-3-Clause
// Gather(v) by a root in the other group: a message from each leaf, which the root takes one after the other. The
// root's own group has nothing to do. With q leaves q messages in a row.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/groups/linear.hpp"

namespace tutti::coll::algorithms::gather {

template <class Env>
Task inter_linear(Env& env, RootedArgs const& a) {
    TwoGroups const groups(env, a);
    Parts const mine = Parts::same(a.mine.address, a.mine.count, *a.mine.type);
    if (groups.rank == a.root) return exchange_with(env, groups, {}, groups.counterparts(a.root), mine, a.parts);
    return exchange_with(env, groups, groups.counterparts(a.root), {}, mine, a.parts);
}

extern constinit const Algorithm<RootedArgs> inter_linear_algorithm = {
    "inter_linear",
    "every rank of the other group sends to the root",
    Family::baseline,
    "folklore",
    requires_two_groups,
    {},
    TUTTI_RUNS_ANYWHERE(inter_linear)};

}   // namespace tutti::coll::algorithms::gather
