// SPDX-License-Identifier: BSD-3-Clause
// Maps ranks to ranges of the segment's file.
#include "runtime/memory/placement.hpp"

#include <algorithm>
#include <cerrno>
#include <vector>

#include <unistd.h>

#include "topo/this_machine.hpp"

namespace tutti {
namespace {

constexpr std::int64_t check_interval_ns = 1'000'000'000;
constexpr int checks_before_move = 10;

std::uint64_t up(std::uint64_t n) { return (n + numa_page - 1) / numa_page * numa_page; }

bool refused(Segment const& segment) { return segment.header().placement_refused.load(std::memory_order_relaxed) != 0; }

/// Remembers a permanent refusal; a lack of addresses may be over the next time.
void record_refusal(Segment const& segment, int error) {
    if (error == EPERM || error == EACCES || error == ENOSYS)
        segment.header().placement_refused.store(static_cast<std::uint32_t>(error), std::memory_order_relaxed);
}

void prefer(Segment const& segment, FileRange const& range, std::span<int const> nodes) {
    if (range.bytes != 0 && !refused(segment)) record_refusal(segment, segment.numa()->prefer(range, nodes));
}

/// The parts of the segment that belong to one rank. `flags` are those of the world communicator; others are placed
/// by the code that creates them. The arena's window is in the file only if the launcher created it.
enum class Part { state, call_statistics, ring_starts, rings, flags, heap, arena };

/// Calls each(part, level) in the order of the segment; the heap level by level.
template <class Each>
void each_part(Segment const& segment, Each each) {
    for (Part part : {Part::state, Part::call_statistics, Part::ring_starts, Part::rings, Part::flags}) each(part, 0U);
    for (unsigned level = 0; level < segment.layout().heap_levels(); ++level) each(Part::heap, level);
    each(Part::arena, 0U);
}

SegmentRange piece_of(Segment const& segment, unsigned rank, Part part, unsigned level, int node) {
    SegmentLayout const& h = segment.layout();
    auto const nth = [&](std::uint64_t first, std::uint64_t bytes) {
        return SegmentRange{first + rank * bytes, bytes, node};
    };
    switch (part) {
    case Part::state: return nth(h.rank_states, h.rank_state_bytes);
    case Part::call_statistics: return nth(h.call_statistics, h.call_statistics_bytes);
    case Part::ring_starts: return nth(h.ring_rows, h.ring_row_bytes);
    case Part::rings: return nth(h.inboxes, h.ranks * h.pair_bytes);
    case Part::flags: return nth(h.world_area, h.world_area_bytes / h.ranks);
    case Part::heap: return nth(h.heap_level(level), h.heap_level_bytes(level));
    case Part::arena: break;
    }
    return nth(h.arenas, h.arena_bytes);
}

/// Places the arena of a rank that has it in a file of its own.
void place_own_file(Segment const& segment, unsigned rank, int node) {
    RankState const& state = segment.rank_state(rank);
    MemoryFile const& file = state.arena_file;
    if (file.inode == 0 || file.process != getpid() || memory_file(file.descriptor) != file) return;
    prefer(segment, {file.descriptor, 0, state.arena_bytes.load(std::memory_order_relaxed)}, {&node, 1});
}

}   // namespace

void place(Segment const& segment, std::span<SegmentRange const> pieces) {
    if (!places_memory(segment)) return;
    SegmentRange run;
    auto finish = [&] {
        if (run.node >= 0) prefer(segment, {segment.descriptor(), run.offset, run.bytes}, {&run.node, 1});
    };
    for (SegmentRange const& piece : pieces) {
        std::uint64_t const first = up(piece.offset), end = up(piece.offset + piece.bytes);
        if (first == end) continue;
        if (piece.node == run.node && first == run.offset + run.bytes) {
            run.bytes += end - first;
            continue;
        }
        finish();
        run = {first, end - first, piece.node};
    }
    finish();
}

void place_ranks(Segment const& segment, NumaHomes const& homes) {
    SegmentLayout const& h = segment.layout();
    prefer(segment, {segment.descriptor(), h.machine, h.ring_rows - h.machine}, segment.numa()->nodes());
    std::vector<SegmentRange> pieces;
    each_part(segment, [&](Part part, unsigned level) {
        for (unsigned rank = 0; rank < homes.node_of_rank.size(); ++rank)
            pieces.push_back(piece_of(segment, rank, part, level, homes.node_of_rank[rank]));
    });
    place(segment, pieces);
    for (unsigned rank = 0; rank < homes.node_of_rank.size(); ++rank)   // only now, because this touches the states
        if (int const node = homes.node_of_rank[rank]; node >= 0)
            segment.rank_state(rank).placed.node.set(static_cast<std::uint64_t>(node) + 1);
}

NumaHome::NumaHome(Segment const& segment, unsigned rank) : segment_(segment), rank_(rank) {
    if (!places_memory(segment)) return;
    if (int const known = numa_node_of(segment, rank); known >= 0) {
        place_own_file(segment, rank, known);
        return;
    }
    NumaSystem const& system = *segment.numa();
    int node = common_node(system, topo::affinity_pus());
    may_move_ = node < 0;
    if (may_move_) node = system.current_node();
    if (std::ranges::find(system.nodes(), node) != system.nodes().end()) set_node(node);
}

/// Peers that read the node meanwhile see the old or the new one.
void NumaHome::set_node(int node) {
    each_part(segment_, [&](Part part, unsigned level) {
        SegmentRange const piece = piece_of(segment_, rank_, part, level, node);
        place(segment_, {&piece, 1});
        if (part == Part::arena || refused(segment_)) return;   // an arena can be long, and its pages in use
        // Only parts that this process has made accessible can be moved by it. Pages that the system leaves where
        // they are cost only time, and the survey reports them.
        if (segment_.accessible(piece.offset)) segment_.numa()->move(segment_.at(piece.offset), up(piece.bytes), node);
    });
    place_own_file(segment_, rank_, node);
    segment_.rank_state(rank_).placed.node.set(static_cast<std::uint64_t>(node) + 1);
}

void NumaHome::recheck(std::int64_t now) {
    next_check_ = now + check_interval_ns;
    int const node = segment_.numa()->current_node();
    auto const& nodes = segment_.numa()->nodes();
    if (node == numa_node_of(segment_, rank_) || std::ranges::find(nodes, node) == nodes.end()) {
        candidate_checks_ = 0;
        return;
    }
    candidate_checks_ = node == candidate_node_ ? candidate_checks_ + 1 : 1;
    candidate_node_ = node;
    if (candidate_checks_ < checks_before_move) return;
    candidate_checks_ = 0;
    set_node(node);
    segment_.rank_state(rank_).placed.moves.add(1);
}

}   // namespace tutti
