// SPDX-License-Identifier: BSD-3-Clause
// Samples pages and queries the kernel for their nodes.
#include "runtime/memory/page_survey.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

#include "runtime/base/error.hpp"
#include "runtime/base/memory_file.hpp"
#include "runtime/memory/placement.hpp"

namespace tutti {
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
