// SPDX-License-Identifier: BSD-3-Clause
// The fast path of one-sided operations, in a few instructions: an epoch towards the target is open, no rank has to be
// waited for, no message is needed, and the target's part is mapped in this process. Unusual and invalid calls take the
// full path (operations.hpp), which checks everything again. Used by mpi_h/windows/fast_calls.hpp.
#pragma once

#include <cstring>

#include "rma/accumulate.hpp"
#include "rma/window.hpp"
#include "runtime/base/error.hpp"

namespace tutti::rma {

inline constexpr std::int64_t max_direct_bytes = 4096;   ///< bytes; for more, the copier knows faster methods

/// Copies a few bytes; 1, 2, 4, 8 and 16 bytes by one load and one store each.
void copy_direct(void* to, void const* from, std::size_t bytes);

/// Returns the address in this process of `bytes` bytes (more than 0) at a displacement in the target's part, or null,
/// without effect, if the conditions of the fast path are not met.
[[gnu::always_inline]] inline std::byte* direct_address(Window& window, int rank, std::int64_t disp,
                                                        std::int64_t bytes) {
    if (!window.open_targets.contains(rank)) [[unlikely]]
        return nullptr;
    Target const& t = window.target(rank);
    std::int64_t offset;
    std::uint64_t end;
    if (__builtin_mul_overflow(disp, t.disp_unit, &offset)) [[unlikely]]
        return nullptr;
    // An offset before the beginning is, as an unsigned number, far beyond the end.
    if (__builtin_add_overflow(static_cast<std::uint64_t>(offset), static_cast<std::uint64_t>(bytes), &end) ||
        end > t.mapped) [[unlikely]]
        return nullptr;
    std::byte* const there = t.memory + offset;
    if (!there) __builtin_unreachable();
    return there;
}

/// Copies a word of the most frequent element sizes by one load and one store. Returns false, without effect, for other
/// sizes.
[[gnu::always_inline]] inline bool copy_word(void* to, void const* from, std::int64_t bytes) {
    if (bytes == 8) [[likely]]
        std::memcpy(to, from, 8);
    else if (bytes == 4) std::memcpy(to, from, 4);
    else return false;
    return true;
}

/// Combines one integer at `there` (from direct_address()) of `rank` by an atomic instruction. `in` is not read for
/// MPI_NO_OP; `old`: receives the previous value; may be null. Returns false, without effect, if no such instruction
/// may be used.
[[gnu::always_inline]] inline bool combine_integer(Window& window, int rank, std::byte* there, Basic kind, BuiltinOp op,
                                                   void const* in, void* old, std::int64_t bytes) {
    Target const& t = window.target(rank);
    AtomicAccess const access(window.members, *t.control, t.member);
    if (!t.uses_atomics || !access.granted() || !fetch_integer(op, kind, there, in, old)) [[unlikely]]
        return false;
    window.count_atomic(static_cast<std::uint64_t>(bytes));
    return true;
}

/// Compares and swaps one element, with the same contract.
[[gnu::always_inline]] inline bool swap_direct(Window& window, int rank, std::byte* there, Basic kind,
                                               void const* compare, void const* origin, void* old, std::int64_t bytes) {
    Target const& t = window.target(rank);
    AtomicAccess const access(window.members, *t.control, t.member);
    if (!t.uses_atomics || !access.granted() || !swap_integer(kind, there, compare, origin, old)) [[unlikely]]
        return false;
    window.count_atomic(static_cast<std::uint64_t>(bytes));
    return true;
}

/// Adds one floating-point number under a stripe, as all its operators do (accumulate.hpp). Returns false, without
/// effect, if it crosses a granule.
template <class T>
[[gnu::always_inline]] inline bool add_number(Window& window, int rank, std::byte* there, void const* in, void* old) {
    Target const& t = window.target(rank);
    std::uint64_t const address = t.address + static_cast<std::uint64_t>(there - t.memory);
    if (address % granule_bytes > granule_bytes - sizeof(T)) [[unlikely]]
        return false;
    T operand, value;
    std::memcpy(&operand, in, sizeof operand);
    {
        StripeGuard const guard(window.members, t.member, address);
        std::memcpy(&value, there, sizeof value);
        if (old) std::memcpy(old, &value, sizeof value);
        value = operand + value;
        std::memcpy(there, &value, sizeof value);
    }
    window.count(Operation::accumulate, AccessMethod::load_store, sizeof(T));
    return true;
}

/// Combines one integer, or adds one floating-point number.
[[gnu::always_inline]] inline bool combine_word(Window& window, int rank, std::byte* there, Basic kind, BuiltinOp op,
                                                void const* in, void* old, std::int64_t bytes) {
    if (op == BuiltinOp::sum && kind == Basic::float64) return add_number<double>(window, rank, there, in, old);
    if (op == BuiltinOp::sum && kind == Basic::float32) return add_number<float>(window, rank, there, in, old);
    return combine_integer(window, rank, there, kind, op, in, old, bytes);
}

/// Combines any elements of a predefined type by the operator's kernel. Returns false, without effect, if the operator
/// is not defined on them.
inline bool combine_direct(Window& window, int rank, std::byte* there, Datatype const& type, Op const& op,
                           void const* in, void* old, std::int64_t bytes);

// Definitions that are not worth inlining into each call.

inline void copy_direct(void* to, void const* from, std::size_t bytes) {
    switch (bytes) {
    case 1: return void(std::memcpy(to, from, 1));
    case 2: return void(std::memcpy(to, from, 2));
    case 4: return void(std::memcpy(to, from, 4));
    case 8: return void(std::memcpy(to, from, 8));
    case 16: return void(std::memcpy(to, from, 16));
    default: std::memcpy(to, from, bytes);
    }
}

inline bool combine_direct(Window& window, int rank, std::byte* there, Datatype const& type, Op const& op,
                           void const* in, void* old, std::int64_t bytes) {
    BinaryKernel kernel = nullptr;
    if (op.builtin != BuiltinOp::replace && op.builtin != BuiltinOp::no_op) {
        try {
            kernel = op.kernels(type).binary;
        } catch (Error const&) {
            return false;
        } catch (std::bad_alloc const&) {   // while the Error's message was built
            return false;
        }
    }
    Target const& t = window.target(rank);
    SharedMemory const to{there,           t.address + static_cast<std::uint64_t>(there - t.memory),
                          &window.members, t.member,
                          nullptr,         t.local_rank,
                          t.uses_atomics};
    Accumulation const how(op.builtin, type.basic(), static_cast<std::size_t>(type.size()), kernel);
    how.run(to, static_cast<std::byte const*>(in), static_cast<std::byte*>(old), static_cast<std::size_t>(bytes));
    window.count(Operation::accumulate, AccessMethod::load_store, static_cast<std::uint64_t>(bytes));
    return true;
}

}   // namespace tutti::rma
