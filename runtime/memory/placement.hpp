// SPDX-License-Identifier: BSD-3-Clause
// Places the node's shared memory on NUMA nodes: memory that a rank polls, allocates from and computes on comes from
// the node where it runs; memory that all ranks read and none writes is interleaved over all nodes.
//
// On machines with one NUMA node, and wherever the system leaves nothing to choose, all of this costs one branch.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "runtime/memory/numa.hpp"
#include "runtime/memory/segment.hpp"

namespace tutti {

/// Returns true if there are several NUMA nodes to place memory on.
inline bool places_memory(Segment const& segment) { return segment.numa() != nullptr; }

/// Returns the NUMA node on which a rank of this machine runs, by the kernel's number; -1 if there is nothing to
/// choose, or if the rank is not bound and has not reached MPI_Init.
inline int numa_node_of(Segment const& segment, unsigned rank) {
    return static_cast<int>(segment.rank_state(rank).placed.node.read()) - 1;
}

/// A part of the segment and the NUMA node on which it is to lie; −1: any.
struct SegmentRange {
    std::uint64_t offset = 0, bytes = 0;
    int node = -1;
};

/// Makes nonexistent pages of each piece come from its node, for all processes; existing pages stay
/// (Segment::punch_hole removes them). The pieces must be in the order of the segment: adjacent pieces with the same
/// node are placed by one call, and a page shared by two pieces is placed with the first. Holds until the same bytes
/// are placed again.
void place(Segment const& segment, std::span<SegmentRange const> pieces);
inline void place(Segment const& segment, std::uint64_t offset, std::uint64_t bytes, int node) {
    if (!places_memory(segment)) return;
    SegmentRange const piece{offset, bytes, node};
    place(segment, {&piece, 1});
}

/// Called by the process that creates a segment, before its texts and the rank states are written: places the data
/// that all ranks read, and the memory of those ranks whose node is known.
void place_ranks(Segment const& segment, NumaHomes const& homes);

/// A rank's home node: determines it if it is not known yet, and checks periodically whether the rank has left it
/// permanently.
class NumaHome {
public:
    /// Must be constructed in the rank's own process, before that touches more of its memory than its state.
    NumaHome(Segment const& segment, unsigned rank);

    /// Returns true if the rank may move to another node.
    bool may_move() const { return may_move_; }
    /// Called at the end of a long wait of a rank that may move.
    void check(std::int64_t now) {
        if (now >= next_check_) recheck(now);
    }

private:
    void recheck(std::int64_t now);
    void set_node(int node);

    Segment const& segment_;
    unsigned rank_;
    bool may_move_ = false;
    int candidate_node_ = -1;    ///< the node where it was last seen, if that is not its home
    int candidate_checks_ = 0;   ///< consecutive checks with that result
    std::int64_t next_check_ = 0;
};

// Surveys where memory lies according to the kernel. Inspects existing pages only and never creates any.

/// Records in each rank's state (Placed) where samples of its memory lie. Called by the launcher after its ranks have
/// ended; does nothing if there is nothing to choose.
void survey(Segment const& segment);

/// What the system permits this process, tried with one page per node.
struct PlacementTest {
    bool succeeded = false;   ///< each page came from the requested node
    std::string message;      ///< without a full stop: the findings, or why memory is not placed
};
PlacementTest test_placement(NumaSystem& system);

}   // namespace tutti
