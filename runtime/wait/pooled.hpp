// SPDX-License-Identifier: BSD-3-Clause
// Lists from a FramePool, for what a coroutine keeps beside its frame: made again and again without asking the system.
#pragma once

#include <vector>

#include "runtime/wait/task.hpp"

namespace tutti {

/// An allocator; the pool outlives what it has given.
template <class T>
struct Pooled {
    using value_type = T;
    Pooled(FramePool& from) : pool(&from) {}
    template <class U>
    Pooled(Pooled<U> const& other) : pool(other.pool) {}

    T* allocate(std::size_t n) {
        static_assert(alignof(T) <= 16, "more than frames have");
        return static_cast<T*>(pool->get(n * sizeof(T)));
    }
    void deallocate(T* memory, std::size_t) { FramePool::put(memory); }
    bool operator==(Pooled const& other) const { return pool == other.pool; }

    FramePool* pool;
};

template <class T>
using PooledVector = std::vector<T, Pooled<T>>;

}  // namespace tutti
