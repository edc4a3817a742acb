// SPDX-License-Identifier: BSD-3-Clause
// The operator new that allocations.hpp speaks of; one file of each program of tests includes it.
#pragma once

#include <cstdlib>
#include <new>

#include "tests/coll/world/allocations.hpp"

namespace tutti::coll::test {
thread_local std::size_t allocations = 0, allocations_left = ~std::size_t{0};
}

// Both forms: memory of either comes to the operator delete below.
void* operator new(std::size_t bytes, std::nothrow_t const&) noexcept {
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
