// SPDX-License-Identifier: BSD-3-Clause
// The common case of an operation, in a few instructions: an epoch is open towards the target, nobody has to be waited
// for or asked, and its part of the window is mapped here. Whatever is not common, and all that is wrong, is left to
// the functions of operations.hpp, which look at everything again.
#pragma once

#include <cstring>

#include "rma/node/accumulation.hpp"
#include "rma/window/window.hpp"

namespace tutti::rma {

inline constexpr std::int64_t direct_most = 4096;   ///< bytes; of more the copier knows better ways

/// Copies few bytes; of elements that the processor has loads and stores for, by one of each.
void copy_direct(void* to, void const* from, std::size_t bytes);

/// Where `bytes` bytes, more than 0, at a displacement in the target's part of the window are found here. Null: it is
/// not the common case, and nothing has happened.
[[gnu::always_inline]] inline std::byte* direct(Window& window, int rank, std::int64_t disp, std::int64_t bytes) {
    if (!window.open_targets.contain(rank)) [[unlikely]]
        return nullptr;
    Target const& t = window.target(rank);
    std::int64_t origin;
    std::uint64_t end;
    if (__builtin_mul_overflow(disp, t.disp_unit, &origin)) [[unlikely]]
        return nullptr;
    // One before the beginning is far beyond the end, unsigned.
    if (__builtin_add_overflow(static_cast<std::uint64_t>(origin), static_cast<std::uint64_t>(bytes), &end) ||
        end > t.mapped) [[unlikely]]
        return nullptr;
    std::byte* const there = t.memory + origin;
    if (!there) __builtin_unreachable();
    return there;
}

/// Copies a word of the sizes that most elements have, by one load and one store. False: it is none, and nothing has
/// happened.
[[gnu::always_inline]] inline bool copy_word(void* to, void const* from, std::int64_t bytes) {
    if (bytes == 8) [[likely]]
        std::memcpy(to, from, 8);
    else if (bytes == 4) std::memcpy(to, from, 4);
    else return false;
    return true;
}

/// Combines one integer with what direct() has found at `rank`, by an atomic instruction. `in` is not looked at with
/// MPI_NO_OP; `old`: null, or where what was there before goes. False: it is none that such an instruction combines,
/// and nothing has happened.
[[gnu::always_inline]] inline bool combine_integer(Window& window, int rank, std::byte* there, Basic kind, BuiltinOp op,
                                                   void const* in, void* old, std::int64_t bytes) {
    Target const& t = window.target(rank);
    ByProcessor const way(window.members, *t.control, t.member);
    if (!t.by_processor || !way.granted() || !fetch_integer(op, kind, there, in, old)) [[unlikely]]
        return false;
    window.count_atomic(static_cast<std::uint64_t>(bytes));
    return true;
}

/// Compares and swaps one, in the same way.
[[gnu::always_inline]] inline bool swap_direct(Window& window, int rank, std::byte* there, Basic kind,
                                               void const* compare, void const* origin, void* old, std::int64_t bytes) {
    Target const& t = window.target(rank);
    ByProcessor const way(window.members, *t.control, t.member);
    if (!t.by_processor || !way.granted() || !swap_integer(kind, there, compare, origin, old)) [[unlikely]]
        return false;
    window.count_atomic(static_cast<std::uint64_t>(bytes));
    return true;
}

/// The same of the sum of one floating-point number, which holds a stripe as all its operators do (accumulation.hpp).
template <class T>
[[gnu::always_inline]] inline bool add_number(Window& window, int rank, std::byte* there, void const* in, void* old) {
    Target const& t = window.target(rank);
    std::uint64_t const address = t.address + static_cast<std::uint64_t>(there - t.memory);
    if (address % granule_bytes > granule_bytes - sizeof(T)) [[unlikely]]
        return false;
    T given, number;
    std::memcpy(&given, in, sizeof given);
    {
        HeldStripe const held(window.members, t.member, address);
        std::memcpy(&number, there, sizeof number);
        if (old) std::memcpy(old, &number, sizeof number);
        number = given + number;
        std::memcpy(there, &number, sizeof number);
    }
    window.count(Operation::accumulate, Path::load_store, sizeof(T));
    return true;
}

/// One integer, or the sum of one floating-point number.
[[gnu::always_inline]] inline bool combine_word(Window& window, int rank, std::byte* there, Basic kind, BuiltinOp op,
                                                void const* in, void* old, std::int64_t bytes) {
    if (op == BuiltinOp::sum && kind == Basic::float64) return add_number<double>(window, rank, there, in, old);
    if (op == BuiltinOp::sum && kind == Basic::float32) return add_number<float>(window, rank, there, in, old);
    return combine_integer(window, rank, there, kind, op, in, old, bytes);
}

/// The same of any elements of a predefined type: by a table of the operator's, or under a stripe. False: the operator
/// is not defined on them, and nothing has happened.
bool combine_direct(Window& window, int rank, std::byte* there, Datatype const& type, Op const& op, void const* in,
                    void* old, std::int64_t bytes);

}   // namespace tutti::rma
