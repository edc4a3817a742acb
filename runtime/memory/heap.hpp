// SPDX-License-Identifier: BSD-3-Clause
// A rank's heap in the node segment. Only its owner allocates and frees (bookkeeping is in the owner's own memory, so
// there is no lock); every rank of the node reads and writes what it hands out, by offset.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "runtime/memory/segment.hpp"

namespace tutti {

class SegmentHeap {
public:
    SegmentHeap(Segment const& segment, unsigned rank);

    /// Offset in the segment of `bytes` bytes, aligned to a page, which read as zero; pages that nobody touches take no
    /// memory. Throws Error(no_mem) with a sentence when the heap is full.
    std::uint64_t allocate(std::uint64_t bytes);
    /// The memory goes back to the system; what comes there next lies on this rank's NUMA node again.
    void release(std::uint64_t offset);

    /// Releases `offset` once `unused()` holds, which is asked at later calls of `allocate`: for areas that other ranks
    /// may still be reading.
    void release_when(std::uint64_t offset, std::function<bool()> unused);

private:
    void collect();

    Segment const& segment_;
    unsigned rank_;
    std::uint64_t begin_ = 0, end_ = 0;
    std::map<std::uint64_t, std::uint64_t> free_;   ///< offset → bytes, neighbours joined
    std::map<std::uint64_t, std::uint64_t> used_;
    std::vector<std::pair<std::uint64_t, std::function<bool()>>> retired_;
};

}   // namespace tutti
