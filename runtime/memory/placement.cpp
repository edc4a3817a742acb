// SPDX-License-Identifier: BSD-3-Clause
// Maps ranks to ranges of the segment's file, and surveys where their pages lie.
#include "runtime/memory/placement.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

#include "runtime/base/error.hpp"
#include "runtime/base/memory_file.hpp"
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

// Samples pages and queries the kernel for their nodes.

namespace {

constexpr std::uint64_t samples_per_extent = 64;   // sampled pages per contiguous extent
constexpr std::size_t max_pages = 2048;            // per part of a rank's memory

/// Returns the offsets in the file of a sample of existing pages.
std::vector<std::uint64_t> sample(FileRange const& range) {
    std::vector<std::uint64_t> offsets;
    auto const end = static_cast<off_t>(range.offset + range.bytes);
    for (auto at = static_cast<off_t>(range.offset); at < end && offsets.size() < max_pages;) {
        off_t const data = lseek(range.descriptor, at, SEEK_DATA);
        if (data < 0 || data >= end) break;
        off_t const hole = std::min(end, lseek(range.descriptor, data, SEEK_HOLE));
        if (hole <= data) break;
        std::uint64_t const pages = (static_cast<std::uint64_t>(hole - data) + numa_page - 1) / numa_page;
        std::uint64_t const step = (pages + samples_per_extent - 1) / samples_per_extent;
        for (std::uint64_t p = 0; p < pages; p += step)
            offsets.push_back(static_cast<std::uint64_t>(data) + p * numa_page);
        at = hole;
    }
    return offsets;
}

struct PageCount {
    std::uint64_t inspected = 0, on_node = 0;
    int error = 0;
};

/// Counts the range's pages that the kernel reports on the node. It reports only pages that this process has touched.
PageCount count_pages(NumaSystem const& system, FileRange const& range, int node) {
    std::vector<std::uint64_t> const offsets = sample(range);
    if (offsets.empty()) return {};
    // Only the sampled pages are accessible: mlockall(MCL_FUTURE) in the program would fill the others.
    void* const at = mmap(nullptr, range.bytes, PROT_NONE, MAP_SHARED | MAP_NORESERVE, range.descriptor,
                          static_cast<off_t>(range.offset));
    if (at == MAP_FAILED) return {0, 0, errno};
    std::vector<void*> pages;
    for (std::uint64_t offset : offsets) {
        auto* const byte = static_cast<unsigned char volatile*>(at) + (offset - range.offset);
        void* const page = const_cast<unsigned char*>(byte);
        if (mprotect(page, numa_page, PROT_READ) != 0) continue;
        static_cast<void>(*byte);
        pages.push_back(page);
    }
    std::vector<int> nodes(pages.size(), -1);
    PageCount found;
    found.error = system.locate(pages, nodes);
    munmap(at, range.bytes);
    if (found.error != 0) return found;
    found.inspected = static_cast<std::uint64_t>(std::ranges::count_if(nodes, [](int one) { return one >= 0; }));
    found.on_node = static_cast<std::uint64_t>(std::ranges::count(nodes, node));
    return found;
}

void survey_rank(Segment const& segment, unsigned rank) {
    SegmentLayout const& h = segment.layout();
    Placed& placed = segment.rank_state(rank).placed;
    int const node = numa_node_of(segment, rank);
    placed.refused.set(segment.header().placement_refused.load(std::memory_order_relaxed));
    if (node < 0) return;
    auto add = [&](std::size_t part, std::uint64_t first, std::uint64_t bytes) {
        if (bytes == 0) return;
        PageCount const found = count_pages(*segment.numa(), {segment.descriptor(), first + rank * bytes, bytes}, node);
        placed.inspected[part].add(found.inspected);
        placed.on_node[part].add(found.on_node);
        if (found.error != 0) placed.refused.set(static_cast<std::uint64_t>(found.error));
    };
    add(0, h.rank_states, h.rank_state_bytes);
    add(0, h.call_statistics, h.call_statistics_bytes);
    add(1, h.ring_rows, h.ring_row_bytes);
    add(1, h.inboxes, h.ranks * h.pair_bytes);
    for (unsigned level = 0; level < h.heap_levels(); ++level) add(2, h.heap_level(level), h.heap_level_bytes(level));
    add(3, h.arenas, h.arena_bytes);
}

std::string listed(std::vector<int> const& nodes) {
    std::string text;
    for (int node : nodes) text += (text.empty() ? "" : node == nodes.back() ? " and " : ", ") + std::to_string(node);
    return text;
}

}   // namespace

void survey(Segment const& segment) {
    if (!places_memory(segment)) return;
    for (unsigned rank = 0; rank < segment.ranks(); ++rank) survey_rank(segment, rank);
}

PlacementTest test_placement(NumaSystem& system) {
    if (std::string const reason = system.unavailable_reason(); !reason.empty()) return {false, reason};
    int const file = create_memory_file("tutti-trial", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, static_cast<off_t>(system.nodes().size() * numa_page)) != 0)
        return {false, "no memory for the test page"};
    PlacementTest trial{true, join("NUMA nodes ", listed(system.nodes()), "; a test page was placed on each of them")};
    std::uint64_t offset = 0;
    for (int node : system.nodes()) {
        FileRange const range{file, offset, numa_page};
        int const error = system.prefer(range, {&node, 1});
        bool const made = pwrite(file, "", 1, static_cast<off_t>(offset)) == 1;
        PageCount const found = error == 0 && made ? count_pages(system, range, node) : PageCount{};
        offset += numa_page;
        if (found.on_node == 1) continue;
        std::string const reason = error != 0         ? join("the system denies placement (", std::strerror(error), ")")
                                   : found.error != 0 ? join("the system does not report the locations of pages (",
                                                             std::strerror(found.error), ")")
                                                      : join("node ", node, " did not provide the requested page");
        trial = {false, join("NUMA nodes ", listed(system.nodes()), ", but ", reason)};
        break;
    }
    close(file);
    return trial;
}

}   // namespace tutti
