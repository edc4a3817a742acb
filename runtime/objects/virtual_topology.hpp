// SPDX-License-Identifier: BSD-3-Clause
// Virtual topologies of communicators: Cartesian, graph and distributed graph (MPI 3.1, chapter 7), and the edges that
// neighbourhood collectives use. Ranks are those of the communicator to which the topology is attached.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

// Balanced grid sizes (MPI 3.1, 7.5.2). J. L. Träff, F. D. Lübbe, "Specification guideline violations by
// MPI_Dims_create", EuroMPI 2015, show what "as close as possible" should mean and that it can be computed quickly.

namespace tutti {

/// Replaces the dimensions that are 0 so that the product of all becomes `nodes`. The new dimensions are
/// non-increasing, with the least possible difference between the largest and the smallest. Among these solutions, the
/// last dimension is as large as possible, then the last but one, and so on. Throws Error if a dimension is negative or
/// no solution exists.
void balance_dims(int nodes, std::span<int> dims);

/// A grid in which the last dimension varies fastest. Without dimensions it is a single point.
struct CartTopology {
    std::vector<int> dims;
    std::vector<bool> periodic;
    std::vector<int> coords;   ///< of this process

    /// Throws Error if a size is not positive or the grid has more than `available` points. `rank`: this process's, −1
    /// if it is outside the grid; `coords` is then empty.
    static CartTopology make(std::span<int const> dims, std::vector<bool> periodic, int available, int rank);
    int size() const;
    /// Throws Error if a coordinate is outside a dimension that is not periodic.
    int rank_at(std::span<int const> at) const;
    std::vector<int> coords_of(int rank) const;
    /// Returns the rank `distance` steps from this process along one dimension; none outside a dimension that is not
    /// periodic.
    std::optional<int> shifted(int dimension, std::int64_t distance) const;
    /// Returns the sub-grid of the remaining dimensions that contains this process.
    CartTopology sub(std::vector<bool> const& remain) const;
    /// Returns the number of the sub-grid that contains `rank`: sub-grids are numbered from 0 in rank order.
    int sub_index(std::vector<bool> const& remain, int rank) const;
};

struct GraphTopology {
    std::vector<int> index;   ///< cumulative degrees, as passed to MPI_Graph_create
    std::vector<int> edges;

    /// Throws Error if there are more than `available` nodes, if `index` decreases, or if an edge leads to no node.
    static GraphTopology make(std::span<int const> index, int const* edges, int available);
    int nodes() const { return static_cast<int>(index.size()); }
    std::span<int const> neighbors(int rank) const;
};

struct DistGraphTopology {
    std::vector<int> sources, source_weights;   ///< weights are empty if the graph is unweighted
    std::vector<int> destinations, destination_weights;
    bool weighted = false;

    /// An incoming edge as its source numbers it: its index among the source's outgoing edges, and their number.
    struct SourceEdge {
        int index, out_degree;
    };
    std::vector<SourceEdge> source_edges;   ///< for each source; exchanged when the graph was created
    int mismatched_rank = -1;   ///< a rank that lists other edges to this rank than this rank lists from it; −1: none
};

using VirtualTopology = std::variant<CartTopology, GraphTopology, DistGraphTopology>;

// The edges of a virtual topology as neighbourhood collectives use them (MPI 3.1, 7.6): the edges of one process,
// grouped by the peer at the other end, each with its number there. Computed once per communicator, so that a call need
// not search.
//
// Matching of incoming and outgoing edges: in graphs, the k-th edge from A to B, counted at A, is the k-th from A to B,
// counted at B, as the order of messages requires. In a grid, data sent in the negative direction arrive from the
// positive one and vice versa, even if both neighbours are the same rank because a periodic dimension has only 1 or 2
// points (MPI 4.1, 8.6; MPI 4.0, B.1.1 makes that an erratum of 3.1).

class Neighborhood {
public:
    /// An edge by its indices at both ends.
    struct Edge {
        int own_index, peer_index;
    };
    /// Another rank at the end of at least one edge.
    struct Peer {
        int rank;
        int out_degree;             ///< of the peer
        std::span<Edge const> in;   ///< edges from the peer, ordered by their numbers there
        std::span<int const> out;   ///< edges to the peer, ordered by their numbers here, as `in` is at the peer
    };

    /// Throws Error(topology) if the two ends of an edge disagree. `rank` is this process's rank among `size` ranks.
    static std::unique_ptr<Neighborhood const> of(VirtualTopology const& topology, int rank, int size);

    Neighborhood(Neighborhood const&) = delete;

    /// Number of edges, including those of MPI_PROC_NULL and those from a rank to itself.
    int in_degree() const { return in_degree_; }
    int out_degree() const { return out_degree_; }
    /// Returns the neighbours except this rank in the order of ranks, starting after this rank and wrapping around.
    std::span<Peer const> peers() const { return peers_; }
    /// Returns the edges from this rank to itself: `own_index` is the number as an incoming edge, `peer_index` as an
    /// outgoing one.
    std::span<Edge const> self_edges() const { return self_edges_; }

private:
    Neighborhood() = default;

    int in_degree_ = 0, out_degree_ = 0;
    std::vector<Peer> peers_;
    std::vector<Edge> self_edges_, in_;
    std::vector<int> out_;
};

}   // namespace tutti
