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

constexpr std::uint64_t of_one_extent = 64;   // sampled pages per contiguous extent
constexpr std::size_t most_pages = 2048;      // per part of a rank's memory

/// Returns the offsets in the file of a sample of existing pages.
std::vector<std::uint64_t> sample(FileRange const& range) {
    std::vector<std::uint64_t> offsets;
    auto const end = static_cast<off_t>(range.offset + range.bytes);
    for (auto at = static_cast<off_t>(range.offset); at < end && offsets.size() < most_pages;) {
        off_t const data = lseek(range.descriptor, at, SEEK_DATA);
        if (data < 0 || data >= end) break;
        off_t const hole = std::min(end, lseek(range.descriptor, data, SEEK_HOLE));
        if (hole <= data) break;
        std::uint64_t const pages = (static_cast<std::uint64_t>(hole - data) + numa_page - 1) / numa_page;
        std::uint64_t const step = (pages + of_one_extent - 1) / of_one_extent;
        for (std::uint64_t p = 0; p < pages; p += step)
            offsets.push_back(static_cast<std::uint64_t>(data) + p * numa_page);
        at = hole;
    }
    return offsets;
}

struct Found {
    std::uint64_t seen = 0, there = 0;
    int why = 0;
};

/// Counts the range's pages that the kernel reports on the node. It reports only pages that this process has touched.
Found look(NumaSystem const& system, FileRange const& range, int node) {
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
    Found found;
    found.why = system.locate(pages, nodes);
    munmap(at, range.bytes);
    if (found.why != 0) return found;
    found.seen = static_cast<std::uint64_t>(std::ranges::count_if(nodes, [](int one) { return one >= 0; }));
    found.there = static_cast<std::uint64_t>(std::ranges::count(nodes, node));
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
        Found const found = look(*segment.numa(), {segment.descriptor(), first + rank * bytes, bytes}, node);
        placed.seen[part].add(found.seen);
        placed.there[part].add(found.there);
        if (found.why != 0) placed.refused.set(static_cast<std::uint64_t>(found.why));
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

Trial try_placement(NumaSystem& system) {
    if (std::string const obstacle = system.obstacle(); !obstacle.empty()) return {false, obstacle};
    int const file = make_memory_file("tutti-trial", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, static_cast<off_t>(system.nodes().size() * numa_page)) != 0)
        return {false, "no memory"};
    Trial trial{true, join("NUMA nodes ", listed(system.nodes()), ", a page asked for on each came from it")};
    std::uint64_t offset = 0;
    for (int node : system.nodes()) {
        FileRange const range{file, offset, numa_page};
        int const why = system.prefer(range, {&node, 1});
        bool const made = pwrite(file, "", 1, static_cast<off_t>(offset)) == 1;
        Found const found = why == 0 && made ? look(system, range, node) : Found{};
        offset += numa_page;
        if (found.there == 1) continue;
        std::string const reason = why != 0 ? join("the system forbids it (", std::strerror(why), ")")
                                   : found.why != 0
                                       ? join("the system does not tell where (", std::strerror(found.why), ")")
                                       : join("node ", node, " did not give a page");
        trial = {false, join("NUMA nodes ", listed(system.nodes()), ", but ", reason)};
        break;
    }
    close(file);
    return trial;
}

}   // namespace tutti
