// SPDX-License-Identifier: BSD-3-Clause
// What every operation asks first: is an epoch towards the target open, and do the bytes lie in its window?
#pragma once

#include <limits>

#include "rma/messages/messages.hpp"
#include "rma/node/accumulation.hpp"
#include "rma/window/window.hpp"
#include "runtime/datatype/layout/remote.hpp"

namespace tutti::rma {

/// Waits until a target of MPI_Win_start has posted (rma/synchronization/groups.cpp).
void await_post(Window& window, Target& t, char const* call);

/// The target, which this process may access now. Throws Error(rma_sync) when it may not.
inline Target& accessible(Window& window, int rank, char const* call) {
    Target& t = window.target(rank);
    if (t.access == Access::none) {
        if (window.everybody == Access::none) [[unlikely]]
            not_open(window, rank);
        window.fence_used = true;
    } else if (!t.post_seen) {
        await_post(window, t, call);
    }
    return t;
}

/// Is the target, which may be accessed, held by a shared lock and nothing else?
inline bool under_shared_lock(Window const& window, Target const& t) {
    return t.access == Access::none ? window.everybody == Access::lock_all : t.access == Access::lock && !t.exclusive;
}

/// Where the elements at a displacement lie: their origin, in bytes from the beginning of the target's part. Throws
/// Error(rma_range) when not all of them lie in it.
inline std::int64_t origin_of(Window const& window, Target const& t, int rank, std::int64_t disp, std::int64_t count,
                              Datatype const& type) {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    std::int64_t origin;
    if (__builtin_mul_overflow(disp, t.disp_unit, &origin) || origin > most / 2) [[unlikely]]
        beyond(window, rank, disp, most, 0);
    std::int64_t const first = origin + type.true_lb(), bytes = (count - 1) * type.extent() + type.true_extent();
    auto const room = static_cast<std::int64_t>(t.bytes);
    if (first < 0 || bytes > room - first) [[unlikely]] {
        bool const backwards = type.extent() < 0 && count > 1;   // then the last one comes first in memory
        std::int64_t const lowest = backwards ? first + (count - 1) * type.extent() : first,
                           length = backwards ? (1 - count) * type.extent() + type.true_extent() : bytes;
        if (!backwards || lowest < 0 || length > room - lowest) beyond(window, rank, disp, lowest, length);
    }
    return origin;
}

/// A part of a window as this process reaches it.
struct Reached {
    std::byte* mapped = nullptr;   ///< of the elements' origin; null: not by load and store
    std::uint64_t address = 0;     ///< the same in the owner's address space
};

/// Of a dynamic window, whose parts are found when they are used.
Reached reach_attached(Window& window, Target const& t, std::int64_t origin, std::int64_t count, Datatype const& type);

inline Reached reach(Window& window, Target const& t, std::int64_t origin, std::int64_t count, Datatype const& type) {
    if (window.flavor == Flavor::dynamic) [[unlikely]]
        return reach_attached(window, t, origin, count, type);
    return {t.memory ? t.memory + origin : nullptr, t.address + static_cast<std::uint64_t>(origin)};
}

/// Of a dynamic window: is this memory of another rank reached neither by load and store nor by the kernel?
bool only_owner_reaches(Window& window, Target const& t, std::int64_t origin, std::int64_t count, Datatype const& type);

/// Does the operation go by messages?
inline bool asked_by_messages(Window& window, Target const& t, int rank, std::int64_t origin, std::int64_t count,
                              Datatype const& type) {
    if (t.path == Path::messages) [[unlikely]]
        return rank != window.rank();
    // The system may refuse what it allowed when the window was made.
    if (t.path == Path::cma) [[unlikely]]
        return rank != window.rank() && !window.process.single_copy.cma(t.place);
    bool const unsure = window.flavor == Flavor::dynamic && window.messages && rank != window.rank();
    return unsure && only_owner_reaches(window, t, origin, count, type);
}

/// What reach() finds, for accumulates.
SharedMemory shared_memory(Window& window, Target const& t, std::int64_t origin, std::int64_t count,
                           Datatype const& type);

}   // namespace tutti::rma
