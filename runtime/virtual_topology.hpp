// SPDX-License-Identifier: BSD-3-Clause
// Virtual topologies that a communicator can carry: cartesian, graph, distributed graph (MPI 3.1, chapter 7).
#pragma once

#include <variant>
#include <vector>

namespace tutti {

struct CartTopology {
    std::vector<int> dims;
    std::vector<bool> periodic;
    std::vector<int> coords;   ///< of this process
};

struct GraphTopology {
    std::vector<int> index;    ///< cumulative degrees, as given to MPI_Graph_create
    std::vector<int> edges;
};

struct DistGraphTopology {
    std::vector<int> sources, source_weights;            ///< weights empty when unweighted
    std::vector<int> destinations, destination_weights;
    bool weighted = false;
};

using VirtualTopology = std::variant<CartTopology, GraphTopology, DistGraphTopology>;

}  // namespace tutti
