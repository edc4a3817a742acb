// SPDX-License-Identifier: BSD-3-Clause
#include "tests/coll/world/allocations.hpp"

#include <cstdlib>
#include <new>

namespace tutti::coll::test {
thread_local std::size_t allocations = 0, allocations_left = ~std::size_t{0};
}

// Both forms: memory of either comes to the operator delete below. Fibers of one thread share its thread-local
// variables, which ThreadSanitizer would report as a race.
[[gnu::no_sanitize("thread")]] void* operator new(std::size_t bytes, std::nothrow_t const&) noexcept {
    using namespace tutti::coll::test;
    ++allocations;
    if (allocations_left == 0) return nullptr;
    if (allocations_left != ~std::size_t{0}) --allocations_left;
    return std::malloc(bytes);
}
void* operator new(std::size_t bytes) {
    if (void* const memory = operator new(bytes, std::nothrow)) return memory;
    throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
