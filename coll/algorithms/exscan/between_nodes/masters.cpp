// SPDX-License-Identifier: BSD-3-Clause
// Exscan on several nodes: inside of nodes, whose last ranks then have their sums; exclusive among these; to the nodes.
// In fragments, so that one is inside the nodes while another is on the links. See prefix_across.hpp.
// ⌈log2 N⌉ steps between N nodes, each of a message of s bytes out and in; or along a chain N − 1 messages in all; or
// one step of at most N − 1 messages out and in.
// Zhu, Goodell, Gropp, Thakur, EuroPVM/MPI 2009, section 3.5.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/prefix/between_nodes.hpp"

namespace tutti::coll::algorithms::exscan {
namespace {

Task masters(NetEnv& env, ReduceArgs const& a) { return prefix_across(env, a, false); }

}   // namespace

extern constinit const Algorithm<ReduceArgs> masters_algorithm = {
    "masters",
    "inside of nodes, among those who have their sums, and to the nodes",
    Family::tutti,
    "Zhu, Goodell, Gropp, Thakur, EuroPVM/MPI 2009, section 3.5",
    requires_grouping,
    prefix_across_parameters,
    TUTTI_RUNS_ON_NODES(masters)};

}   // namespace tutti::coll::algorithms::exscan
