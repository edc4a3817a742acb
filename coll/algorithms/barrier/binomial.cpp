// SPDX-License-Identifier: BSD-3-Clause
// Barrier along a binomial tree: reports go up to rank 0, releases come down. 2 ⌈log2 p⌉ steps, 2 (p − 1) messages of
// no bytes.
// The software combining tree of Yew, Tzeng, Lawrie, IEEE Trans. on Computers C-36 (1987), with messages.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/messages/dissemination.hpp"
#include "coll/blocks/trees/tree_place.hpp"

namespace tutti::coll::algorithms::barrier {

template <class Env>
Task binomial(Env& env, BarrierArgs const&) {
    TreePlace const t = binomial_tree(env.frames(), env.rank(), env.size());
    for (int child : t.children) co_await hear(env, child, 1);
    if (t.parent >= 0) {
        env.sent(t.parent, 1);
        co_await hear(env, t.parent, 1);
    }
    for (auto child = t.children.rbegin(); child != t.children.rend(); ++child) env.sent(*child, 1);
}

extern constinit const Algorithm<BarrierArgs> binomial_algorithm = {
    "binomial",          "reports up a binomial tree, releases down",
    Family::baseline,    "after the combining tree of Yew, Tzeng, Lawrie, IEEE Trans. on Computers C-36 (1987)",
    requires_nothing,    {},
    TUTTI_RUNS(binomial)};

}   // namespace tutti::coll::algorithms::barrier
