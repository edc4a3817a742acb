// SPDX-License-Identifier: BSD-3-Clause
// The fast form of each operation: elements of one predefined datatype without gaps, an open epoch towards the target
// (OpenTargets), no rank to wait for, no active message, and a target whose part is mapped in this process. Each
// function either performs the operation or returns false without effect; the caller then uses the general form
// (operations.hpp, epochs.hpp), which checks everything and reports errors. Words are copied and combined inline;
// all other elements by one function of fast_path.cpp.
#pragma once

#include <atomic>
#include <cstring>

#include "rma/accumulate.hpp"
#include "rma/window.hpp"

namespace tutti::rma::fast {

inline constexpr std::int64_t max_bytes = 4096;   ///< of an operation; for more, the copier knows faster methods

/// Which elements a call handles: words, which inline code copies or combines, or any.
enum class Size { word, any };

/// Elements of one predefined datatype, which follow each other without gaps.
struct Elements {
    std::int64_t bytes;   ///< of all elements; may be invalid: not more than 0
    std::uint8_t size;    ///< of one element, in bytes
    Basic kind;
};

/// Returns the address in this process of `bytes` bytes (more than 0) at a displacement in the target's part, or null
/// if the conditions of the fast form are not met.
[[gnu::always_inline]] inline std::byte* target_memory(Window& window, int rank, std::int64_t disp,
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

// Put and get. `operation` is one of the two; `here` is not written by a put.

/// Any number of bytes.
template <Operation operation>
bool copy_elements(Window& window, void* here, std::int64_t bytes, int rank, std::int64_t disp);

/// One word, by one load and one store.
template <Operation operation, std::size_t bytes>
[[gnu::always_inline]] inline bool copy_word(Window& window, void* here, int rank, std::int64_t disp) {
    std::byte* const there = target_memory(window, rank, disp, bytes);
    if (!there) [[unlikely]]
        return false;
    if (operation == Operation::put) std::memcpy(there, here, bytes);
    else std::memcpy(here, there, bytes);
    window.count(operation, AccessMethod::load_store, bytes);
    return true;
}

template <Operation operation>
[[gnu::always_inline]] inline bool copy(Window& window, void* here, std::int64_t bytes, int rank, std::int64_t disp,
                                        Size size) {
    if (bytes == 8) [[likely]]
        return copy_word<operation, 8>(window, here, rank, disp);
    if (bytes == 4) return copy_word<operation, 4>(window, here, rank, disp);
    return size == Size::any && copy_elements<operation>(window, here, bytes, rank, disp);
}

// Accumulates: an aligned integer by one atomic instruction, all other elements as in accumulate.hpp.

/// Finds an integer in the target's part and calls `combine(its address, an atomic_ref)` while this process may access
/// it by atomic instructions. Returns false, without effect, if it may not, or if `combine` returns false.
template <class T, class Combine>
[[gnu::always_inline]] inline bool with_integer(Window& window, int rank, std::int64_t disp, Combine const& combine) {
    std::byte* const there = target_memory(window, rank, disp, sizeof(T));
    if (!there || reinterpret_cast<std::uintptr_t>(there) % sizeof(T) != 0) [[unlikely]]
        return false;
    Target const& t = window.target(rank);
    if (!t.uses_atomics) [[unlikely]]
        return false;
    AtomicAccess const access(window.members, *t.control, t.member);
    if (!access.granted() || !combine(std::atomic_ref<T>(*reinterpret_cast<T*>(there)))) [[unlikely]]
        return false;
    window.count_atomic(sizeof(T));
    return true;
}

/// Adds to, exchanges or loads an integer. Returns false for other operators.
template <class T>
[[gnu::always_inline]] inline bool fetch_integer(Window& window, void const* in, void* old, int rank, std::int64_t disp,
                                                 BuiltinOp op) {
    return with_integer<T>(
        window, rank, disp, [&](std::atomic_ref<T> shared) __attribute__((always_inline)) {
            T value{}, before;
            if (op != BuiltinOp::no_op) std::memcpy(&value, in, sizeof value);
            if (op == BuiltinOp::sum) before = shared.fetch_add(value, std::memory_order_acq_rel);
            else if (op == BuiltinOp::replace) before = shared.exchange(value, std::memory_order_acq_rel);
            else if (op == BuiltinOp::no_op) before = shared.load(std::memory_order_acquire);
            else return false;
            if (old) std::memcpy(old, &before, sizeof before);
            return true;
        });
}

template <class T>
[[gnu::always_inline]] inline bool swap_integer(Window& window, void const* origin, void const* compare, void* old,
                                                int rank, std::int64_t disp) {
    return with_integer<T>(
        window, rank, disp, [&](std::atomic_ref<T> shared) __attribute__((always_inline)) {
            swap_if_equal(shared, compare, origin, old);
            return true;
        });
}

/// Adds one floating-point number, under a stripe.
template <class T>
bool add_number(Window& window, void const* in, void* old, int rank, std::int64_t disp);

/// Any elements and operators.
bool combine_elements(Window& window, Elements elements, void const* in, void* old, int rank, std::int64_t disp,
                      BuiltinOp op);

/// All accumulates except compare_and_swap(). `in` is not read for MPI_NO_OP; `old`:
/// receives the previous content, may be null.
[[gnu::always_inline]] inline bool combine(Window& window, Elements elements, void const* in, void* old, int rank,
                                           std::int64_t disp, BuiltinOp op, Size size) {
    std::int64_t const bytes = elements.bytes;
    Basic const kind = elements.kind;
    if (bytes == 8 && (kind == Basic::int64 || kind == Basic::uint64)) [[likely]] {
        if (fetch_integer<std::uint64_t>(window, in, old, rank, disp, op)) [[likely]]
            return true;
    } else if (bytes == 4 && (kind == Basic::int32 || kind == Basic::uint32)) {
        if (fetch_integer<std::uint32_t>(window, in, old, rank, disp, op)) [[likely]]
            return true;
    } else if (bytes == 8 && kind == Basic::float64 && op == BuiltinOp::sum) {
        if (add_number<double>(window, in, old, rank, disp)) [[likely]]
            return true;
    } else if (bytes == 4 && kind == Basic::float32 && op == BuiltinOp::sum) {
        if (add_number<float>(window, in, old, rank, disp)) [[likely]]
            return true;
    }
    return size == Size::any && combine_elements(window, elements, in, old, rank, disp, op);
}

/// One integer of 4 or 8 bytes.
[[gnu::always_inline]] inline bool compare_and_swap(Window& window, Basic kind, void const* origin, void const* compare,
                                                    void* old, int rank, std::int64_t disp) {
    if (kind == Basic::int64 || kind == Basic::uint64) [[likely]]
        return swap_integer<std::uint64_t>(window, origin, compare, old, rank, disp);
    return supports_atomics(kind) && swap_integer<std::uint32_t>(window, origin, compare, old, rank, disp);
}

// Flushes that are only a fence, because all operations on the target's memory have been executed.

[[gnu::always_inline]] inline bool flush_all(Window& window) {
    if (!window.open_targets.flush_is_fence) [[unlikely]]
        return false;
    window.order();
    return true;
}
[[gnu::always_inline]] inline bool flush(Window& window, int rank) {
    return window.open_targets.contains(rank) && flush_all(window);
}
/// The buffers have been reusable since the operations returned.
[[gnu::always_inline]] inline bool flush_local(Window& window, int rank) {
    return window.open_targets.flush_is_fence && window.open_targets.contains(rank);
}

}   // namespace tutti::rma::fast
