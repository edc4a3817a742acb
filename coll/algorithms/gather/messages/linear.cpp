// SPDX-License-Identifier: BSD-3-Clause
// Gather(v) by a message from each leaf to the root, which takes them one after the other.
// p − 1 messages in a row. Bytes: n per part by single copy, else 2n; the root's core copies every part.
#include "coll/blocks/messages/linear.hpp"
#include "coll/algorithms/algorithm.hpp"

namespace tutti::coll::algorithms::gather {

template <class Env>
Task linear(Env& env, RootedArgs const& a) {
    return linear_gather(env, a);
}

extern constinit const Algorithm<RootedArgs> linear_algorithm = {
    "linear", "every leaf sends to the root", Family::baseline, "folklore", requires_nothing,
    {},       TUTTI_RUNS_ANYWHERE(linear)};

}   // namespace tutti::coll::algorithms::gather
