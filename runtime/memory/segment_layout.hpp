// SPDX-License-Identifier: BSD-3-Clause
// Computes the derived values of a segment's layout, and validates a layout read from memory that every rank may
// overwrite. Also used by the arena (runtime/memory/arena/arena.cpp), which may not use the C++ library: no
// exceptions, no allocation.
#pragma once

#include <cstdint>

#include "runtime/memory/segment.hpp"

namespace tutti {

/// Computes everything that follows from the given values. Memory is occupied only where touched, so the sizes bound
/// addresses, not memory.
inline void compute_layout(SegmentLayout& h) {
    constexpr std::uint64_t page = 4096;
    auto const round_up = [](std::uint64_t n, std::uint64_t to) { return (n + to - 1) / to * to; };
    std::uint64_t const unit = h.numa_nodes > 1 ? page : 1, ranks = h.ranks;   // a page lies on one NUMA node
    std::uint64_t const text_bytes = std::uint64_t{h.machine_bytes} + h.tuning_bytes + h.cluster_bytes;
    h.pair_bytes = ranks <= 64 ? 80 * 1024 : 32 * 1024;
    h.world_area_bytes = ranks * page;
    h.rank_state_bytes = round_up(sizeof(RankState), unit);
    h.call_statistics_bytes = round_up(sizeof(CallStatistics), unit);
    h.rank_states = round_up(sizeof(SegmentHeader), page);
    h.call_statistics = h.rank_states + round_up(ranks * h.rank_state_bytes, page);
    h.machine = h.call_statistics + round_up(ranks * h.call_statistics_bytes, page);
    h.wait_targets = round_up(h.machine + text_bytes, page);
    h.sleeper_sets = h.wait_targets + 2 * ranks * sizeof(std::uint64_t);
    h.suspects = h.sleeper_sets + Segment::sleeper_sets * ((ranks + 63) / 64) * sizeof(std::uint64_t);
    h.ring_rows = round_up(h.suspects + (std::uint64_t{h.world_size} + 63) / 64 * sizeof(std::uint64_t), page);
    h.ring_row_bytes = round_up(round_up(ranks, cache_line) + ranks * Segment::ring_start_bytes, page);
    h.inboxes = h.ring_rows + ranks * h.ring_row_bytes;
    h.world_area = h.inboxes + ranks * ranks * h.pair_bytes;
    h.traces = h.world_area + h.world_area_bytes;
    h.heaps = h.traces + ranks * h.trace_bytes;
    h.bytes = h.heaps + ranks * h.heap_bytes;   // last, since processes map as many levels of them as they can
    h.arenas = round_up(h.bytes, huge_page_bytes);
}

/// Returns true if the layout is one that compute_layout() has computed for a file of this length. If the given sizes
/// have been overwritten, the length of the file differs.
inline bool is_valid_layout(SegmentLayout const& layout, std::uint64_t file_bytes) {
    bool const possible = layout.magic == SegmentLayout::expected_magic && layout.ranks > 0 &&
                          layout.ranks <= Segment::max_ranks && layout.heap_bytes <= file_bytes &&
                          layout.trace_bytes <= file_bytes && layout.arena_bytes <= file_bytes;
    SegmentLayout expected = layout;
    compute_layout(expected);
    std::uint64_t const end =
        layout.arena_bytes == 0 ? layout.bytes : layout.arenas + layout.ranks * layout.arena_bytes;
    return possible && layout == expected && end == file_bytes;
}

}   // namespace tutti
