// SPDX-License-Identifier: BSD-3-Clause
// Scatter(v) by a message from the root to each leaf, all under way at once.
// One step for the leaves, p − 1 for the root where parts are staged. Bytes: n per part by single copy, else 2n.
#include "coll/blocks/messages/linear.hpp"
#include "coll/algorithms/algorithm.hpp"

namespace tutti::coll::algorithms::scatter {

template <class Env>
Task linear(Env& env, RootedArgs const& a) {
    return linear_scatter(env, a);
}

extern constinit const Algorithm<RootedArgs> linear_algorithm = {
    "linear", "the root sends to every leaf", Family::baseline, "folklore", requires_nothing,
    {},       TUTTI_RUNS_ANYWHERE(linear)};

}   // namespace tutti::coll::algorithms::scatter
