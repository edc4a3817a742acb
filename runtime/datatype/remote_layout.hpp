// SPDX-License-Identifier: BSD-3-Clause
// Layouts in serialised form: a datatype written as numbers where peers can read them. A rank that can access another
// rank's memory can then copy from the sender's layout to its own in one pass, without packing.
//
// The form: bounds, then the tree in preorder. It is written completely or not at all; the writer decides how much room
// it may take. Both sides run the same library, so the numbers are trusted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/datatype/layout.hpp"

namespace tutti {

/// The range of its owner's address space that a buffer touches.
struct AddressRange {
    std::uint64_t first;
    std::size_t bytes;

    static AddressRange of(std::uint64_t origin, std::int64_t count, std::int64_t extent, std::int64_t true_lb,
                           std::int64_t true_extent);
    static AddressRange of(void const* buffer, std::int64_t count, Datatype const& type) {
        return of(reinterpret_cast<std::uint64_t>(buffer), count, type.extent(), type.true_lb(), type.true_extent());
    }
};

/// Serialises the layout of a datatype. Returns the number of numbers written, or 0 if there is too little room or no
/// data.
std::size_t flatten(Datatype const& type, std::span<std::int64_t> out);

/// A layout that another rank has serialised.
class RemoteType {
public:
    /// `flat` must be the complete output of flatten(). It is not used after construction.
    explicit RemoteType(std::int64_t const* flat);

    std::int64_t size() const { return layout_->size; }   ///< bytes of data in one element
    /// Returns the range of the owner's address space that (`origin`, `count`) touches.
    AddressRange range(std::uint64_t origin, std::int64_t count) const {
        return AddressRange::of(origin, count, extent_, true_lb_, true_extent_);
    }
    /// Returns the same elements in this rank's address space; `reached` is where the first byte of the range is
    /// mapped. The result is valid as long as this object.
    TypedMemory at(std::byte const* reached, std::uint64_t origin, std::int64_t count) const {
        auto const here = reinterpret_cast<std::uint64_t>(reached) + (origin - range(origin, count).first);
        return {static_cast<std::uintptr_t>(here), count, extent_, layout_.get()};
    }

private:
    std::int64_t extent_, true_lb_, true_extent_;
    TypeLayout::Ref layout_;
};

}   // namespace tutti
