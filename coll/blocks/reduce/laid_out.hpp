// SPDX-License-Identifier: BSD-3-Clause
// Memory of an algorithm's own in which elements lie as the user's datatype has them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "runtime/datatype/datatype.hpp"
#include "runtime/wait/pooled.hpp"

namespace tutti::coll {

class LaidOut {
public:
    /// None.
    LaidOut() = default;
    /// Room for `count` elements, also where bounds are below zero; aligned as malloc would. It holds anything.
    LaidOut(Datatype const& type, std::int64_t count) : LaidOut(type, count, nullptr) {}
    /// The same from a pool, where peers read it.
    LaidOut(Datatype const& type, std::int64_t count, FramePool* pool) {
        std::int64_t const last = type.extent() * std::max<std::int64_t>(0, count - 1);
        std::int64_t const low = std::min<std::int64_t>(0, type.true_lb()) + std::min<std::int64_t>(0, last);
        std::int64_t const high =
            std::max<std::int64_t>(0, type.true_lb() + type.true_extent()) + std::max<std::int64_t>(0, last);
        std::size_t const bytes = static_cast<std::size_t>(high - low) + 16;
        if (pool) pooled_ = PooledBytes(*pool, bytes);
        else memory_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
        std::byte* const first = (pool ? pooled_.get() : memory_.get()) - low;
        origin_ = first + (16 - reinterpret_cast<std::uintptr_t>(first) % 16) % 16;
    }

    /// The address of a buffer there; null where there is none.
    std::byte* origin() const { return origin_; }

private:
    std::unique_ptr<std::byte[]> memory_;
    PooledBytes pooled_;
    std::byte* origin_ = nullptr;
};

}   // namespace tutti::coll
