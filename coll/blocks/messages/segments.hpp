// SPDX-License-Identifier: BSD-3-Clause
// How a message is cut into segments.
#pragma once

#include <algorithm>
#include <cstdint>

#include "coll/env/arguments.hpp"

namespace tutti::coll {

/// Packed bytes of one element; 1 if it has none.
inline std::size_t element_of(ReduceArgs const& a) {
    return std::max<std::size_t>(1, static_cast<std::size_t>(a.type->size()));
}

inline constexpr std::size_t whole = ~std::size_t{0};   ///< as the length of a segment: one for all

/// Whole elements in each of them; no segments where there are no bytes.
struct Segments {
    Segments(std::size_t bytes, std::size_t element, std::size_t segment)
        : total(bytes), length(std::max(element, std::min(segment, bytes) / element * element)),
          count((bytes + length - 1) / length) {}
    std::size_t at(std::uint64_t k) const { return k * length; }
    std::size_t bytes(std::uint64_t k) const { return std::min(length, total - at(k)); }
    /// The operation, cut into these segments, on segment k alone.
    ReduceArgs slice(ReduceArgs const& a, std::uint64_t k) const {
        return a.slice(static_cast<std::int64_t>(at(k)) / a.type->size(),
                       static_cast<std::int64_t>(bytes(k)) / a.type->size());
    }
    std::size_t total, length;
    std::uint64_t count;
};

}   // namespace tutti::coll
