// SPDX-License-Identifier: BSD-3-Clause
// Virtual topologies that a communicator can carry: cartesian, graph, distributed graph (MPI 3.1, chapter 7). Ranks
// are those of the communicator that carries the topology.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

namespace tutti {

/// A grid, last dimension fastest; without dimensions it is a single point.
struct CartTopology {
    std::vector<int> dims;
    std::vector<bool> periodic;
    std::vector<int> coords;   ///< of this process

    /// Checks the sizes; the grid holds at most `available` ranks. `rank`: this process's, −1 when it is outside.
    static CartTopology make(std::span<int const> dims, std::vector<bool> periodic, int available, int rank);
    int size() const;
    /// Throws Error when a coordinate is outside a dimension that is not periodic.
    int rank_at(std::span<int const> at) const;
    std::vector<int> coords_of(int rank) const;
    /// The rank `distance` steps from this process along one dimension; none beyond an edge.
    std::optional<int> shifted(int dimension, std::int64_t distance) const;
    /// The grid of the dimensions that remain, seen from this process.
    CartTopology sub(std::vector<bool> const& remain) const;
    /// Which of the sub-grids that `sub` cuts this process is in: a number from 0, in rank order.
    int sub_index(std::vector<bool> const& remain, int rank) const;
};

struct GraphTopology {
    std::vector<int> index;   ///< cumulative degrees, as given to MPI_Graph_create
    std::vector<int> edges;

    /// Checks that degrees do not fall and edges lead to one of at most `available` nodes.
    static GraphTopology make(std::span<int const> index, int const* edges, int available);
    int nodes() const { return static_cast<int>(index.size()); }
    std::span<int const> neighbors(int rank) const;
};

struct DistGraphTopology {
    std::vector<int> sources, source_weights;   ///< weights empty when unweighted
    std::vector<int> destinations, destination_weights;
    bool weighted = false;

    /// What the source of an edge knows it as: its number there, of so many.
    struct Meeting {
        int place, out_degree;
    };
    std::vector<Meeting> meetings;   ///< of each source, agreed on when the graph was made
    int disagrees = -1;   ///< a rank that gave other edges to this one than this one gave from it; −1: none
};

using VirtualTopology = std::variant<CartTopology, GraphTopology, DistGraphTopology>;

}   // namespace tutti
