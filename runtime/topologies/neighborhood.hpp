// SPDX-License-Identifier: BSD-3-Clause
// The edges of a virtual topology as neighbourhood collectives use them (MPI 3.1, 7.6): for one process, by the peer at
// their other end, each with its number there. Worked out once for a communicator; a call then searches nothing.
//
// Which edge in is which edge out of a peer: in graphs the k-th from A to B, counted at A, is the k-th from A to B,
// counted at B, as messages in order would have it. In a grid what goes in the negative direction comes from the
// positive one and the other way round, also where both neighbours are one rank because a periodic dimension has only 1
// or 2 of them (MPI 4.1, 8.6; MPI 4.0, B.1.1 makes that an erratum of 3.1).
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "runtime/topologies/virtual_topology.hpp"

namespace tutti {

class Neighborhood {
public:
    /// An edge by its numbers at both of its ends.
    struct Edge {
        int mine, theirs;
    };
    /// Another rank at the end of at least one edge.
    struct Peer {
        int rank;
        int out_degree;             ///< the peer's
        std::span<Edge const> in;   ///< from it, in the order of their numbers there
        std::span<int const> out;   ///< to it, in the order of their numbers here: that of `in` at the peer
    };

    /// Throws Error(topology) when the two ends of an edge disagree. `rank`: this process's, of `size`.
    static std::unique_ptr<Neighborhood const> of(VirtualTopology const& topology, int rank, int size);

    Neighborhood(Neighborhood const&) = delete;

    /// Edges, with those of MPI_PROC_NULL and those from a rank to itself.
    int in_degree() const { return in_degree_; }
    int out_degree() const { return out_degree_; }
    /// The neighbours but this rank, from the rank behind it on.
    std::span<Peer const> peers() const { return peers_; }
    /// The edges from this rank to itself: `mine` as one in, `theirs` as one out.
    std::span<Edge const> own() const { return own_; }

private:
    Neighborhood() = default;

    int in_degree_ = 0, out_degree_ = 0;
    std::vector<Peer> peers_;
    std::vector<Edge> own_, in_;
    std::vector<int> out_;
};

}   // namespace tutti
