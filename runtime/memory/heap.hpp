// SPDX-License-Identifier: BSD-3-Clause
// A rank's heap in the node segment. Only its owner allocates and frees (the bookkeeping lies in the owner's own
// memory, so there is no lock); every rank of the node may read and write the allocated blocks, by offset.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "runtime/memory/segment.hpp"

namespace tutti {

class SegmentHeap {
public:
    SegmentHeap(Segment const& segment, unsigned rank);

    /// Returns the offset in the segment of a block of `bytes` bytes, page-aligned and reading as zero; untouched
    /// pages occupy no memory. Throws Error(no_mem) if the heap is full.
    std::uint64_t allocate(std::uint64_t bytes);
    /// Returns the memory to the system, except for a few small blocks that are kept for further allocations of the
    /// same size; new pages at this offset lie on this rank's NUMA node again.
    void release(std::uint64_t offset);

    /// Releases `offset` once `unused()` returns true, which `collect` checks: for areas that other ranks may still
    /// read.
    void release_when(std::uint64_t offset, std::function<bool()> unused);
    /// Also called by `allocate`.
    void collect();

private:
    using Blocks = std::map<std::uint64_t, std::uint64_t>;   ///< offset → bytes

    bool grow();
    std::optional<std::uint64_t> allocate_from_free_list(std::uint64_t bytes);
    void return_to_free_list(Blocks::node_type piece);

    Segment const& segment_;
    unsigned rank_;
    unsigned levels_ = 0;       ///< levels of the segment that are in use
    std::uint64_t bytes_ = 0;   ///< total in these levels
    Blocks free_;               ///< adjacent blocks are merged
    Blocks used_;
    Blocks cached_;   ///< small free blocks, filled with zeros
    std::uint64_t cached_bytes_ = 0;
    std::vector<std::pair<std::uint64_t, std::function<bool()>>> retired_;
};

}   // namespace tutti
