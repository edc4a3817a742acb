// SPDX-License-Identifier: BSD-3-Clause
// Staging memory: where a rank lays out what its peers cannot read in its own memory. Each operation under way has a
// piece of its own, taken from the rank's heap in the segment at the first use; a few are kept for the next operations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/memory/heap.hpp"

namespace tutti::coll {

struct StagingMemory {
    std::uint64_t offset = 0;   ///< in the segment
    std::size_t bytes = 0;      ///< 0: none
};

class StagingPool {
public:
    explicit StagingPool(std::size_t bytes) : bytes_(bytes) { free_.reserve(most_kept); }   // put must not fail

    /// Throws Error(no_mem) when the heap is used up.
    StagingMemory take(SegmentHeap& heap) {
        if (free_.empty()) return {heap.allocate(bytes_), bytes_};
        StagingMemory const s = free_.back();
        free_.pop_back();
        return s;
    }
    void put(SegmentHeap& heap, StagingMemory const& s) {
        if (s.bytes == bytes_ && free_.size() < most_kept) free_.push_back(s);
        else heap.release(s.offset);
    }
    /// From now on pieces have at least so many bytes.
    void enlarge(SegmentHeap& heap, std::size_t bytes) {
        if (bytes <= bytes_) return;
        bytes_ = bytes;
        for (StagingMemory const& s : free_) heap.release(s.offset);
        free_.clear();
    }

private:
    static constexpr std::size_t most_kept = 8;

    std::size_t bytes_;
    std::vector<StagingMemory> free_;
};

}   // namespace tutti::coll
