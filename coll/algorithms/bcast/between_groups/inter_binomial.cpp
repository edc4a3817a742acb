// SPDX-License-Identifier: BSD-3-Clause
// Broadcast from one group to the other by messages: the root and the other group along a binomial tree. The rest of
// the root's group has nothing to do. ⌈log2 (q + 1)⌉ messages in a row with q ranks in the other group.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/groups/two_groups.hpp"
#include "coll/blocks/messages/linear.hpp"
#include "coll/blocks/trees/tree_place.hpp"

namespace tutti::coll::algorithms::bcast {

template <class Env>
Task inter_binomial(Env& env, BcastArgs const& a) {
    TwoGroups const groups(env, a);
    bool const root = env.rank() == a.root;
    if (!root && !groups.other.has(a.root)) co_return;
    Ranks const leaves = root ? groups.other : groups.own;
    TreePlace const at =
        binomial_tree(env.frames(), root ? 0 : 1 + groups.place(), 1 + leaves.size()).named([&](int place) {
            return place == 0 ? a.root : leaves.first + place - 1;
        });
    Messages<Env> m(env);
    Truncation truncation;
    if (!root) co_await receive_part(env, m, at.parent, a.data, 0, truncation);
    for (auto child = at.children.rbegin(); child != at.children.rend(); ++child)
        co_await m.start(*child, {a.data, 0, a.data.bytes()});
    for (int child : at.children) co_await m.finish(child);
    co_await m.close();
    truncation.check(env);
}

extern constinit const Algorithm<BcastArgs> inter_binomial_algorithm = {
    "inter_binomial",
    "from the root along a binomial tree of the other group",
    Family::baseline,
    "folklore",
    requires_two_groups,
    {},
    TUTTI_RUNS_ANYWHERE(inter_binomial)};

}   // namespace tutti::coll::algorithms::bcast
