// SPDX-License-Identifier: BSD-3-Clause
// The operator new of these tests: it counts, and refuses when a test says so.
#pragma once

#include <cstddef>

namespace tutti::coll::test {

extern thread_local std::size_t allocations;        ///< by this thread
extern thread_local std::size_t allocations_left;   ///< of this thread; from 0 on all are refused. All ones: no end
/// Bytes that this thread has allocated less those that it has freed, and the most that there were. A test that asks
/// for the latter sets it to the former.
extern thread_local std::ptrdiff_t bytes_in_use, most_in_use;

/// Refuses the thread's memory after `number` more allocations, for as long as it lives.
class MemoryEnds {
public:
    [[gnu::no_sanitize("thread")]] explicit MemoryEnds(std::size_t number) { allocations_left = number; }
    MemoryEnds(MemoryEnds const&) = delete;
    MemoryEnds& operator=(MemoryEnds const&) = delete;
    [[gnu::no_sanitize("thread")]] ~MemoryEnds() { allocations_left = ~std::size_t{0}; }
};

}   // namespace tutti::coll::test
