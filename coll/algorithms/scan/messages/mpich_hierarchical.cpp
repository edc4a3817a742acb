// SPDX-License-Identifier: BSD-3-Clause
// Scan with a master per node, in four steps: inside of nodes, masters have their nodes' sums, exclusive among
// masters, to the nodes; among all ranks where nodes do not hold consecutive ranks. See prefix_nodes.hpp.
// With N nodes of c ranks: 2 ⌈log2 c⌉ + ⌈log2 N⌉ messages of s bytes in a row, read where they lie or staged once.
// Zhu, Goodell, Gropp, Thakur, section 3.5.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/prefix/node_leaders.hpp"

namespace tutti::coll::algorithms::scan {

template <class Env>
Task mpich_hierarchical(Env& env, ReduceArgs const& a) {
    return prefix_by_nodes(env, a, true);
}

extern constinit const Algorithm<ReduceArgs> mpich_hierarchical_algorithm = {
    "mpich_hierarchical",
    "inside of nodes, among their masters, and to the nodes, with messages",
    Family::mpich,
    "Zhu, Goodell, Gropp, Thakur, EuroPVM/MPI 2009, section 3.5",
    requires_grouping,
    prefix_by_nodes_parameters,
    TUTTI_RUNS_ANYWHERE(mpich_hierarchical)};

}   // namespace tutti::coll::algorithms::scan
