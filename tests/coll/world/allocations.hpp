// SPDX-License-Identifier: BSD-3-Clause
// The operator new of these tests: counts allocations, and refuses them on request.
#pragma once

#include <cstddef>

namespace tutti::coll::test {

extern thread_local std::size_t allocations;        ///< by this thread
extern thread_local std::size_t allocations_left;   ///< by this thread until one fails; all ones: no limit
/// Bytes that this thread has allocated minus those that it has freed, and their maximum. A test resets the maximum by
/// assigning the current value.
extern thread_local std::ptrdiff_t bytes_in_use, max_bytes_in_use;

/// While it exists, the thread's allocations fail after the first `number`.
class AllocationLimit {
public:
    [[gnu::no_sanitize("thread")]] explicit AllocationLimit(std::size_t number) { allocations_left = number; }
    AllocationLimit(AllocationLimit const&) = delete;
    AllocationLimit& operator=(AllocationLimit const&) = delete;
    [[gnu::no_sanitize("thread")]] ~AllocationLimit() { allocations_left = ~std::size_t{0}; }
};

}   // namespace tutti::coll::test
