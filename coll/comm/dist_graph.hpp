// SPDX-License-Identifier: BSD-3-Clause
// Distributed graphs whose edges may be given by any process (MPI 3.1, 7.5.4).
#pragma once

#include <vector>

#include "runtime/objects/comm.hpp"

namespace tutti::coll {

struct Edge {
    int source, destination, weight;
};

/// Collective: each process gives some edges and gets those that begin or end with it, in the order of the givers.
/// Every edge goes to every process once: fine for the sizes of a node.
DistGraphTopology exchange_edges(Comm& comm, std::vector<Edge> const& mine, bool weighted);

/// Collective: each learns what number its edges have at the other end, for the neighbourhood collectives.
void meet(Comm& comm, DistGraphTopology& graph);

}   // namespace tutti::coll
