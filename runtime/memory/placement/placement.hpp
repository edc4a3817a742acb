// SPDX-License-Identifier: BSD-3-Clause
// Which part of the node's shared memory comes from which NUMA node: what a rank polls, allocates from and computes on
// from the one where it runs, what all read and nobody writes from all by turns. See README.md beside this.
//
// On machines with one node, and wherever the system has nothing to choose, all of this is a branch.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/memory/placement/numa.hpp"
#include "runtime/memory/segment.hpp"

namespace tutti {

/// Are there several nodes to place memory on?
inline bool places_memory(Segment const& segment) { return segment.numa() != nullptr; }

/// The node where a rank of this machine runs, by the kernel's number; −1: there is nothing to choose, or the rank is
/// not bound and has not come to MPI_Init.
inline int numa_node_of(Segment const& segment, unsigned rank) {
    return static_cast<int>(segment.rank_state(rank).placed.node.read()) - 1;
}

/// A part of the segment, and the node that it shall lie on; −1: anywhere.
struct Piece {
    std::uint64_t offset = 0, bytes = 0;
    int node = -1;
};

/// Lets the pages of each piece that are not there yet come from its node, for all processes; those that are there stay
/// (Segment::forget makes them go). Pieces in the order of the segment: neighbours with one node are one call, and a
/// page that two of them share goes with the first. Holds until somebody places the same bytes again.
void place(Segment const& segment, std::span<Piece const> pieces);
inline void place(Segment const& segment, std::uint64_t offset, std::uint64_t bytes, int node) {
    if (!places_memory(segment)) return;
    Piece const piece{offset, bytes, node};
    place(segment, {&piece, 1});
}

/// For whoever makes a segment, before its texts and the states of ranks are written: places what all read, and the
/// memory of those ranks whose node is known.
void place_ranks(Segment const& segment, Homes const& homes);

/// A rank's own part: finds its node if nobody has yet, and looks now and then whether it has left it for good.
class Home {
public:
    /// For the rank's own process, before it touches more of its memory than its state.
    Home(Segment const& segment, unsigned rank);

    /// May it move to another node?
    bool moves() const { return moves_; }
    /// At the end of a long wait, for a rank that may.
    void look(std::int64_t now) {
        if (now >= next_look_) look_again(now);
    }

private:
    void look_again(std::int64_t now);
    void settle(int node);

    Segment const& segment_;
    unsigned rank_;
    bool moves_ = false;
    int elsewhere_ = -1;   ///< the node where it was seen last, if that is another one
    int times_ = 0;        ///< in a row
    std::int64_t next_look_ = 0;
};

}   // namespace tutti
