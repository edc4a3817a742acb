// SPDX-License-Identifier: BSD-3-Clause
// Gather(v) by a root in the other group: a message from each leaf, which the root takes one after the other. The
// root's own group has nothing to do. With q leaves q messages in a row.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/groups/linear.hpp"

namespace tutti::coll::algorithms::gather {

template <class Env>
Task inter_linear(Env& env, RootedArgs const& a) {
    TwoGroups const groups(env, a);
    bool const root = env.rank() == a.root;
    if (!root && !groups.other.has(a.root)) co_return;
    Messages<Env> m(env);
    Truncation truncation(groups.other.first);
    if (!root) co_await m.send(a.root, {a.mine, 0, a.mine.bytes()});
    for (int leaf = groups.other.first; root && leaf < groups.other.last; ++leaf)
        co_await receive_part(env, m, leaf, a.parts[leaf], 0, truncation);
    co_await m.close();
    truncation.check();
}

extern constinit const Algorithm<RootedArgs> inter_linear_algorithm = {
    "inter_linear", "every rank of the other group sends to the root", Family::baseline, "folklore",
    requires_two_groups, {}, TUTTI_RUNS_ANYWHERE(inter_linear)};

}  // namespace tutti::coll::algorithms::gather
