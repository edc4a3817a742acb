// SPDX-License-Identifier: BSD-3-Clause
// A rank's heap in the node segment. Only its owner allocates and frees (bookkeeping is in the owner's own memory, so
// there is no lock); every rank of the node reads and writes what it hands out, by offset.
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

    /// Offset in the segment of `bytes` bytes, aligned to a page, which read as zero; pages that nobody touches take no
    /// memory. Throws Error(no_mem) with a sentence when the heap is full.
    std::uint64_t allocate(std::uint64_t bytes);
    /// The memory goes back to the system, but for a few small blocks that are kept for the next ones of their sizes;
    /// what comes there next lies on this rank's NUMA node again.
    void release(std::uint64_t offset);

    /// Releases `offset` once `unused()` holds, which is asked in `collect`: for areas that other ranks may still be
    /// reading.
    void release_when(std::uint64_t offset, std::function<bool()> unused);
    /// Done by `allocate`, too.
    void collect();

private:
    using Blocks = std::map<std::uint64_t, std::uint64_t>;   ///< offset → bytes

    bool grow();
    std::optional<std::uint64_t> take(std::uint64_t bytes);
    void give_back(Blocks::node_type piece);

    Segment const& segment_;
    unsigned rank_;
    unsigned levels_ = 0;       ///< of the segment's levels that are allocated from
    std::uint64_t bytes_ = 0;   ///< in them
    Blocks free_;               ///< neighbours joined
    Blocks used_;
    Blocks kept_;   ///< small ones that are free, and zero
    std::uint64_t kept_bytes_ = 0;
    std::vector<std::pair<std::uint64_t, std::function<bool()>>> retired_;
};

}   // namespace tutti
