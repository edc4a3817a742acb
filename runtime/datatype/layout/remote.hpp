// SPDX-License-Identifier: BSD-3-Clause
// Layouts that travel: a datatype written down as numbers where peers can read them, so that a rank that can load and
// store in another's memory copies from the sender's layout to its own in one pass, with nothing packed in between.
//
// The form: bounds, then the tree in preorder. It is written in full or not at all; how much room is worth it is the
// writer's decision. Both sides run the same library: the numbers are trusted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/datatype/layout/copy.hpp"

namespace tutti {

/// What a buffer touches of its owner's address space.
struct AddressRange {
    std::uint64_t first;
    std::size_t bytes;

    static AddressRange of(std::uint64_t origin, std::int64_t count, std::int64_t extent, std::int64_t true_lb,
                           std::int64_t true_extent);
    static AddressRange of(void const* buffer, std::int64_t count, Datatype const& type) {
        return of(reinterpret_cast<std::uint64_t>(buffer), count, type.extent(), type.true_lb(), type.true_extent());
    }
};

/// Writes a datatype's layout down; returns how many numbers that took, 0 when there is not enough room or no data.
std::size_t flatten(Datatype const& type, std::span<std::int64_t> out);

/// A layout that another rank has written down.
class RemoteType {
public:
    explicit RemoteType(std::int64_t const* flat);

    std::int64_t size() const { return layout_->size; }
    /// What (`origin`, `count`) touches in the owner's address space.
    AddressRange range(std::uint64_t origin, std::int64_t count) const {
        return AddressRange::of(origin, count, extent_, true_lb_, true_extent_);
    }
    /// The same elements as this rank sees them: `reached` is where it finds the range's first byte. Lives no longer
    /// than this object.
    TypedMemory at(std::byte const* reached, std::uint64_t origin, std::int64_t count) const {
        auto const here = reinterpret_cast<std::uint64_t>(reached) + (origin - range(origin, count).first);
        return {static_cast<std::uintptr_t>(here), count, extent_, layout_.get()};
    }

private:
    std::int64_t extent_, true_lb_, true_extent_;
    TypeLayout::Ref layout_;
};

}   // namespace tutti
