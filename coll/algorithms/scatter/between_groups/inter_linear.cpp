// SPDX-License-Identifier: BSD-3-Clause
// Scatter(v) from a root in the other group: a message to each leaf, all under way at once. The root's own group has
// nothing to do. One step for the leaves.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/groups/linear.hpp"

namespace tutti::coll::algorithms::scatter {

template <class Env>
Task inter_linear(Env& env, RootedArgs const& a) {
    TwoGroups const groups(env, a);
    bool const root = env.rank() == a.root;
    if (!root && !groups.other.has(a.root)) co_return;
    Messages<Env> m(env);
    Truncation truncation(groups.other.first);
    if (!root) co_await receive_part(env, m, a.root, a.mine, 0, truncation);
    for (int leaf = groups.other.first; root && leaf < groups.other.last; ++leaf)
        co_await m.start(leaf, {a.parts[leaf], 0, a.parts[leaf].bytes()});
    for (int leaf = groups.other.first; root && leaf < groups.other.last; ++leaf)
        co_await m.finish(leaf);
    co_await m.close();
    truncation.check();
}

extern constinit const Algorithm<RootedArgs> inter_linear_algorithm = {
    "inter_linear", "the root sends to every rank of the other group", Family::baseline, "folklore",
    requires_two_groups, {}, TUTTI_RUNS_ANYWHERE(inter_linear)};

}  // namespace tutti::coll::algorithms::scatter
