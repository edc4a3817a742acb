// SPDX-License-Identifier: BSD-3-Clause
// Barrier along a binomial tree: reports go up to rank 0, releases come down. 2 ⌈log2 p⌉ steps, 2 (p − 1) messages of
// no bytes.
// The software combining tree of Yew, Tzeng, Lawrie, IEEE Trans. on Computers C-36 (1987), with messages.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/trees/branch.hpp"
#include "coll/blocks/messages/dissemination.hpp"

namespace tutti::coll::algorithms::barrier {

template <class Env>
Task binomial(Env& env, BarrierArgs const&) {
    Branch const b = binomial_branch(env.rank(), env.size());
    for (int child : b.children) co_await hear(env, child, 1);
    if (b.parent >= 0) {
        env.sent(b.parent, 1);
        co_await hear(env, b.parent, 1);
    }
    for (auto child = b.children.rbegin(); child != b.children.rend(); ++child) env.sent(*child, 1);
}

extern constinit const Algorithm<BarrierArgs> binomial_algorithm = {
    "binomial", "reports up a binomial tree, releases down", Family::baseline,
    "after the combining tree of Yew, Tzeng, Lawrie, IEEE Trans. on Computers C-36 (1987)", requires_nothing, {},
    TUTTI_RUNS(binomial)};

}  // namespace tutti::coll::algorithms::barrier
