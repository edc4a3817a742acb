// SPDX-License-Identifier: BSD-3-Clause
// Combines elements into memory into which others combine at the same time, each element atomically (MPI 3.1, 11.7.1).
//
// The way is decided by the kind of the elements and by where they lie, never by the operator, so two ways never meet
// on one location: integers of 4 and 8 bytes that are aligned and mapped here are combined by the processor, one by
// one, until somebody has combined many of them in the same part at once (by_processor.hpp); all others, and all that
// only the kernel reaches, granule by granule under its stripe, by the kernels that reductions use.
// (Measured for doubles: a
// compare-and-swap loop takes 5 ns per element, the stripe and the kernel 6 ns for one element and 0.1 for each of
// many; small integers come by the thousand.) So a record replaced and fetched as MPI_BYTE is whole within a granule,
// which programs count on though the standard says it of each byte alone.
#pragma once

#include <atomic>
#include <cstring>
#include <span>

#include "rma/node/by_processor.hpp"
#include "rma/node/stripes.hpp"
#include "runtime/datatype/datatype.hpp"
#include "runtime/datatype/op.hpp"
#include "runtime/memory/single_copy.hpp"

namespace tutti::rma {

/// Memory of a member of the node, as an accumulate sees it.
struct SharedMemory {
    std::byte* mapped = nullptr;            ///< where `address` is found here; null: only through `copy`
    std::uint64_t address = 0;              ///< in its owner's address space
    NodeMembers const* members = nullptr;   ///< of the window, on this node
    std::size_t owner = 0;                  ///< whose memory it is: place among them
    SingleCopy* copy = nullptr;             ///< how the kernel reaches it; used where it is not mapped
    unsigned place = 0;                     ///< the owner's on the node, for `copy`
    bool by_processor = true;               ///< false: all combine under stripes, for some reach it by the kernel alone

    SharedMemory at(std::int64_t offset) const {
        SharedMemory there = *this;
        if (mapped) there.mapped += offset;
        there.address += static_cast<std::uint64_t>(offset);
        return there;
    }
};

/// Integers of 4 and 8 bytes, and logicals: what an atomic instruction combines where it may.
constexpr bool processor_combines(Basic kind) {
    switch (kind) {
    case Basic::int32:
    case Basic::int64:
    case Basic::uint32:
    case Basic::uint64:
    case Basic::fortran_logical: return true;
    default: return false;
    }
}

/// Thrown where the system refuses a copy that the kernel was to make between processes, so that the owner must be
/// asked for the rest: so many packed bytes, whole elements, have been combined.
struct Refused {
    std::size_t combined = 0;
};

class Accumulation {
public:
    /// Throws Error(op) where the operator is not defined on the elements of `type`, Error(type) when these are not all
    /// of one predefined datatype.
    Accumulation(Op const& op, Datatype const& type);
    /// Of a predefined datatype without gaps, and the operator's kernel on it; MPI_REPLACE and MPI_NO_OP have none.
    Accumulation(BuiltinOp op, Basic kind, std::size_t bytes, Kernel2 kernel)
        : op_(op), basic_(kind), packed_(bytes), kernel_(kernel), integer_(processor_combines(kind)) {}
    /// What another process has made of such; `packed`: bytes of one element in packed data.
    Accumulation(BuiltinOp op, Basic kind, std::size_t packed);

    BuiltinOp op() const { return op_; }
    Basic basic() const { return basic_; }
    /// Bytes of one element in packed data.
    std::size_t element() const { return packed_; }
    /// `bytes`: whole elements without gaps, at `to` and in `in`, which is not looked at with MPI_NO_OP. `old`: null,
    /// or where what was there before goes.
    void run(SharedMemory const& to, std::byte const* in, std::byte* old, std::size_t bytes) const;
    /// The same for packed bytes [position, position + bytes) of `count` elements of `type` at `to`, whole elements.
    void typed(SharedMemory const& to, std::int64_t count, Datatype const& type, std::size_t position,
               std::byte const* in, std::byte* old, std::size_t bytes) const;
    /// The same for `count` copies of a layout, `extent` bytes apart.
    void laid_out(SharedMemory const& to, std::int64_t count, std::int64_t extent, TypeLayout const& layout,
                  std::size_t position, std::byte const* in, std::byte* old, std::size_t bytes) const;

private:
    static constexpr std::size_t most_element = 64;   ///< bytes; no predefined datatype has more

    /// Part of an element in memory, `at` bytes from the origin of the elements.
    struct Piece {
        std::int64_t at;
        std::size_t bytes;
    };
    class Elements;

    /// One element in several pieces, in type map order, under the stripe of the first one.
    void scattered(SharedMemory const& to, std::span<Piece const> pieces, std::byte const* in, std::byte* old) const;
    /// Under the stripe of all of it.
    void in_place(std::byte* at, std::byte const* in, std::byte* old, std::size_t bytes) const;
    void under_stripes(SharedMemory const& to, std::byte const* in, std::byte* old, std::size_t bytes) const;
    void combine(std::byte const* in, std::byte* inout, std::size_t elements) const;

    BuiltinOp op_;
    Basic basic_;
    std::size_t packed_;
    Kernel2 kernel_ = nullptr;   ///< null: MPI_REPLACE, MPI_NO_OP
    bool integer_;               ///< of a size that the processor combines
};

/// Adds to the word at `at`, exchanges or loads it; `old`: null, or where what was there before goes. False: another
/// operator, or the word is not aligned; nothing has happened.
template <class T>
[[gnu::always_inline]] inline bool fetch_word(BuiltinOp op, std::byte* at, void const* in, void* old) {
    if (reinterpret_cast<std::uintptr_t>(at) % sizeof(T) != 0) [[unlikely]]
        return false;
    std::atomic_ref<T> shared(*reinterpret_cast<T*>(at));
    T value{}, before;
    if (op != BuiltinOp::no_op) std::memcpy(&value, in, sizeof value);
    if (op == BuiltinOp::sum) before = shared.fetch_add(value, std::memory_order_acq_rel);
    else if (op == BuiltinOp::replace) before = shared.exchange(value, std::memory_order_acq_rel);
    else if (op == BuiltinOp::no_op) before = shared.load(std::memory_order_acquire);
    else return false;
    if (old) std::memcpy(old, &before, sizeof before);
    return true;
}

/// The common case of one element, without an Accumulation: a sum, an exchange or a load of an aligned integer in
/// memory that is combined by the processor (ByProcessor). False: it is another one, and nothing has happened.
[[gnu::always_inline]] inline bool fetch_integer(BuiltinOp op, Basic kind, std::byte* at, void const* in, void* old) {
    if (kind == Basic::int64 || kind == Basic::uint64) return fetch_word<std::uint64_t>(op, at, in, old);
    if (kind == Basic::int32 || kind == Basic::uint32) return fetch_word<std::uint32_t>(op, at, in, old);
    return false;
}

template <class T>
[[gnu::always_inline]] inline bool swap_word(std::byte* at, void const* compare, void const* origin, void* old) {
    if (reinterpret_cast<std::uintptr_t>(at) % sizeof(T) != 0) [[unlikely]]
        return false;
    T expected, wanted;
    std::memcpy(&expected, compare, sizeof expected);
    std::memcpy(&wanted, origin, sizeof wanted);
    std::atomic_ref<T>(*reinterpret_cast<T*>(at))
        .compare_exchange_strong(expected, wanted, std::memory_order_acq_rel, std::memory_order_acquire);
    std::memcpy(old, &expected, sizeof expected);
    return true;
}

/// The common case of MPI_Compare_and_swap, in the same way.
[[gnu::always_inline]] inline bool swap_integer(Basic kind, std::byte* at, void const* compare, void const* origin,
                                                void* old) {
    if (kind == Basic::int64 || kind == Basic::uint64) return swap_word<std::uint64_t>(at, compare, origin, old);
    return processor_combines(kind) && swap_word<std::uint32_t>(at, compare, origin, old);
}

/// MPI_Compare_and_swap of an element of an integer kind; what was there goes to `old`. Throws Error(type) for others.
void compare_and_swap(SharedMemory const& at, Datatype const& type, void const* compare, void const* origin, void* old);
/// The same of an element of this kind and `bytes` bytes.
void compare_and_swap(SharedMemory const& at, Basic kind, std::size_t bytes, void const* compare, void const* origin,
                      void* old);
/// Throws Error(type) unless it may be compared and swapped.
void check_swappable(Datatype const& type);

}   // namespace tutti::rma
