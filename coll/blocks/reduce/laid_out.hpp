// SPDX-License-Identifier: BSD-3-Clause
// Memory of an algorithm's own in which elements lie as the user's datatype has them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "runtime/datatype/datatype.hpp"

namespace tutti::coll {

class LaidOut {
public:
    /// None.
    LaidOut() = default;
    /// Room for `count` elements, also where bounds are below zero; aligned as malloc would. It holds anything.
    LaidOut(Datatype const& type, std::int64_t count) {
        std::int64_t const last = type.extent() * std::max<std::int64_t>(0, count - 1);
        std::int64_t const low = std::min<std::int64_t>(0, type.true_lb()) + std::min<std::int64_t>(0, last);
        std::int64_t const high = std::max<std::int64_t>(0, type.true_lb() + type.true_extent()) +
                                  std::max<std::int64_t>(0, last);
        memory_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(high - low) + 16);
        auto const start = reinterpret_cast<std::uintptr_t>(memory_.get() - low);
        origin_ = memory_.get() - low + (16 - start % 16) % 16;
    }

    /// The address of a buffer there; null where there is none.
    std::byte* origin() const { return origin_; }

private:
    std::unique_ptr<std::byte[]> memory_;
    std::byte* origin_ = nullptr;
};

}  // namespace tutti::coll
