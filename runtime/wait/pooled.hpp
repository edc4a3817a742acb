// SPDX-License-Identifier: BSD-3-Clause
// Lists, objects and bytes from a FramePool, for what a coroutine keeps beside its frame: made again and again without
// asking the system, and of large bytes that peers read nothing goes before they have learned that the operation has
// failed.
#pragma once

#include <memory>
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

/// What an object inherits that is made in a pool: `new (pool) T`.
struct InPool {
    static void* operator new(std::size_t bytes, FramePool& pool) { return pool.get(bytes); }
    static void operator delete(void* memory) { FramePool::put(memory); }
    static void operator delete(void* memory, FramePool&) { FramePool::put(memory); }
};

/// Bytes as they come. They lie on lines as memory of the system's own does.
class PooledBytes {
public:
    PooledBytes() = default;
    PooledBytes(FramePool& pool, std::size_t bytes)
        : memory_(static_cast<std::byte*>(pool.get(before + bytes)) + before) {}

    std::byte* get() const { return memory_.get(); }
    explicit operator bool() const { return memory_ != nullptr; }

private:
    static constexpr std::size_t before = 32;   // and as much is the frame's head
    struct PutBack {
        void operator()(std::byte* memory) const { FramePool::put(memory - before); }
    };
    std::unique_ptr<std::byte, PutBack> memory_;
};

}   // namespace tutti
