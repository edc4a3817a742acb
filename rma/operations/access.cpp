// SPDX-License-Identifier: BSD-3-Clause
// Reaching what only a dynamic window's owner knows, and what an accumulate must know besides.
#include "rma/operations/access.hpp"

namespace tutti::rma {

Reached reach_attached(Window& window, Target const& t, std::int64_t origin, std::int64_t count, Datatype const& type) {
    auto const address = static_cast<std::uint64_t>(origin);
    if (t.place == window.process.place()) return {reinterpret_cast<std::byte*>(origin), address};
    AddressRange const range = AddressRange::of(address, count, type.extent(), type.true_lb(), type.true_extent());
    std::byte* const first = window.process.single_copy.reach(t.place, range.first, range.bytes);
    return {first ? first + static_cast<std::int64_t>(address - range.first) : nullptr, address};
}

bool only_owner_reaches(Window& window, Target const& t, std::int64_t origin, std::int64_t count,
                        Datatype const& type) {
    SingleCopy& copy = window.process.single_copy;
    AddressRange const range =
        AddressRange::of(static_cast<std::uint64_t>(origin), count, type.extent(), type.true_lb(), type.true_extent());
    return !copy.cma(t.place) && !copy.reaches(t.place, range.first, range.bytes);
}

SharedMemory shared_memory(Window& window, Target const& t, std::int64_t origin, std::int64_t count,
                           Datatype const& type) {
    Reached const there = reach(window, t, origin, count, type);
    bool by_processor = t.by_processor;
    // Memory outside of arenas is mapped by its owner alone, perhaps: so for it, too, it is combined under stripes.
    if (window.flavor == Flavor::dynamic) {
        AddressRange const range =
            AddressRange::of(there.address, count, type.extent(), type.true_lb(), type.true_extent());
        by_processor = in_arena(window.process.segment.rank_state(t.place), range.first, range.bytes);
    }
    return {there.mapped, there.address, &window.members, t.member, &window.process.single_copy, t.place, by_processor};
}

}   // namespace tutti::rma
