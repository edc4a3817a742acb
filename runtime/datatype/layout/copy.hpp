// SPDX-License-Identifier: BSD-3-Clause
// Copies between two layouts, of which one may be in another rank's memory: what a layout is, and where, in numbers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/datatype/datatype.hpp"
#include "runtime/datatype/layout/layout.hpp"

namespace tutti {

/// `count` elements of a layout in memory that this rank can load and store. It owns nothing.
struct TypedMemory {
    std::uintptr_t origin;   ///< of the first element; with MPI_BOTTOM it is 0 and displacements are addresses
    std::int64_t count, extent;
    TypeLayout const* layout;   ///< null: no data in it

    static TypedMemory of(void const* buffer, std::int64_t count, Datatype const& type) {
        return {reinterpret_cast<std::uintptr_t>(buffer), count, type.extent(), type.layout()};
    }
    /// Bytes without gaps.
    static TypedMemory run(void const* first, TypeLayout const& run) {
        return {reinterpret_cast<std::uintptr_t>(first), 1, run.size, &run};
    }

    std::size_t bytes() const { return layout ? static_cast<std::size_t>(layout->size * count) : 0; }
    /// All in one piece, in type map order, from first() on.
    bool dense() const {
        return bytes() == 0 || (layout->form == TypeLayout::Form::run && (count == 1 || extent == layout->size));
    }
    std::byte* first() const { return reinterpret_cast<std::byte*>(origin + static_cast<std::uintptr_t>(layout->at)); }
};

/// Packs up to `bytes` bytes from packed position `position` on into `out`; returns how many there were.
std::size_t pack_typed(TypedMemory const& from, std::size_t position, void* out, std::size_t bytes);
/// The reverse.
std::size_t unpack_typed(TypedMemory const& to, std::size_t position, void const* in, std::size_t bytes);

/// Copies packed bytes [position, position + bytes) of the one to the same place in the other, as far as both reach;
/// returns how many. One pass where one side is dense or both have the same layout; otherwise through a few KiB that
/// stay in the nearest cache. The two must not overlap.
std::size_t copy_typed(TypedMemory const& to, TypedMemory const& from, std::size_t position, std::size_t bytes);

/// Do the bytes of two layouts lie in the same way, whoever made them?
bool same_layout(TypeLayout const& a, TypeLayout const& b);

}   // namespace tutti
