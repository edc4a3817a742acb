// SPDX-License-Identifier: BSD-3-Clause
// Allreduce of small messages on several nodes: everybody gets all operands and combines
// them, in rank order, so that the result has the same bits wherever ranks are. See gathered.hpp.
// One step between nodes; of p ranks' operands of s bytes all p·s come to each node.
#include "coll/blocks/nodes/gathered.hpp"
#include "coll/algorithms/algorithm.hpp"

namespace tutti::coll::algorithms::allreduce {
namespace {

Task gathered(NetEnv& env, ReduceArgs const& a) {
    if (a.bytes() > 0) co_await fold_gathered(env, a, env.size(), a.parameters[0]);
}

std::uint64_t gathered_operations(ReduceArgs const& a, Division const& map) {
    return gather_operations(a, map, a.parameters[0]);
}

}   // namespace

constexpr Parameter gathered_parameters[] = {memory_parameter};
extern constinit const Algorithm<ReduceArgs> gathered_algorithm = {"gathered",
                                                                   "everybody gets all operands and combines them",
                                                                   Family::tutti,
                                                                   "Tutti",
                                                                   requires_nothing,
                                                                   gathered_parameters,
                                                                   TUTTI_RUNS_ON_NODES(gathered)};

}   // namespace tutti::coll::algorithms::allreduce
