// SPDX-License-Identifier: BSD-3-Clause
#include "tests/coll/world/allocations.hpp"

#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <new>

namespace tutti::coll::test {
thread_local std::size_t allocations = 0, allocations_left = ~std::size_t{0};
thread_local std::ptrdiff_t bytes_in_use = 0, max_bytes_in_use = 0;
}   // namespace tutti::coll::test

// Defines both forms, because either kind of memory is freed by the operator delete below. Fibers of one thread share
// its thread-local variables, which ThreadSanitizer would report as a race.
[[gnu::no_sanitize("thread")]] void* operator new(std::size_t bytes, std::nothrow_t const&) noexcept {
    using namespace tutti::coll::test;
    ++allocations;
    if (allocations_left == 0) return nullptr;
    if (allocations_left != ~std::size_t{0}) --allocations_left;
    void* const memory = std::malloc(bytes);
    bytes_in_use += static_cast<std::ptrdiff_t>(malloc_usable_size(memory));
    max_bytes_in_use = std::max(max_bytes_in_use, bytes_in_use);
    return memory;
}
void* operator new(std::size_t bytes) {
    if (void* const memory = operator new(bytes, std::nothrow)) return memory;
    throw std::bad_alloc();
}
[[gnu::no_sanitize("thread")]] void operator delete(void* memory) noexcept {
    tutti::coll::test::bytes_in_use -= static_cast<std::ptrdiff_t>(malloc_usable_size(memory));
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }
