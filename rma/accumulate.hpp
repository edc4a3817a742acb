// SPDX-License-Identifier: BSD-3-Clause
// Accumulates: elements of a window are combined, each atomically, while other ranks combine into the same memory (MPI
// 3.1, 11.7.1). Used by operations.cpp and fast_path.hpp at the origin, and by am_target.cpp at the target.
//
// The method depends on the kind of the elements and on where they lie, never on the operator, so two methods never
// meet on one location:
// - Atomic instructions, one element at a time: aligned integers of 4 and 8 bytes that are mapped in this process,
//   until a rank combines many of them in one call in the same member's part.
// - Stripes: all other elements, and all memory that some rank may reach only through copies by the operating system's
//   kernel (CMA), granule by granule under the granule's stripe, by the reduction kernels of collectives. Measured for
//   doubles: a compare-and-swap loop takes 5 ns per element; the stripe and the reduction kernel take 6 ns for one
//   element and 0.1 ns for each of many. Accumulates of small integers usually have thousands of elements. A record
//   that is replaced and fetched as MPI_BYTE is therefore atomic within a granule; programs depend on that although the
//   standard guarantees it for single bytes only.
//
// Atomic instructions are best for a few integers and for a contended counter; for many integers, a reduction kernel
// under stripes takes a fiftieth of the time. Each member's part therefore starts with atomic instructions and changes
// to stripes, permanently, when the first accumulate of many integers arrives. An accumulate of a few integers pays two
// plain stores and a load for that.
//
// Argument for the change. A rank that combines a few integers (1) stores in its own word the member in whose part it
// works, (2) reads that part's `atomics_disabled`, (3) combines by atomic instructions if that is `no`, and (4) clears
// its word; otherwise it undoes (1). The rank that changes the part (a) stores `begun`, (b) executes a fence in the
// processes of all members, (c) waits for each member's word that names the part, and (d) stores `yes`; every rank that
// has read `yes` combines integers under stripes. The fence executes at some point P of the other rank's program. If
// (1) precedes P, (c) sees it and waits for (4), which releases (3) to (d). If (1) follows P, so does (2), which sees
// (a), and the rank waits for (d). Signal fences prevent the compiler from reordering (1) and (2). Where not all
// processes take part in such fences (NodeMembers::has_remote_fences), each side executes a fence of its own between
// its store and its loads, as in Dekker's algorithm. There is no cycle: (c) waits for (3), which waits for no rank.
// Threads of one process hold its lock, one at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <span>

#include "rma/node_control.hpp"
#include "runtime/datatype/datatype.hpp"
#include "runtime/datatype/op.hpp"
#include "runtime/memory/single_copy.hpp"
#include "runtime/wait/short_wait.hpp"

namespace tutti::rma {

/// An accumulate of at least this many adjacent integers uses stripes: under a stripe, this number takes as long as two
/// integers by atomic instructions.
inline constexpr std::size_t many_elements = 8;

/// During its lifetime, this process may combine integers in a member's part by atomic instructions if `granted()`
/// returns true; otherwise it must combine them under stripes.
class AtomicAccess {
public:
    AtomicAccess(NodeMembers const& members, std::size_t owner)
        : AtomicAccess(members, *members.controls[owner], owner) {}
    /// `control`: the control of the member with index `owner`.
    [[gnu::always_inline]] AtomicAccess(NodeMembers const& members, Control const& control, std::size_t owner)
        : word_(members.own_control->atomic_access.word), atomics_disabled_(control.atomics_disabled.word) {
        word_.store(owner + 1, std::memory_order_relaxed);
        if (members.has_remote_fences) std::atomic_signal_fence(std::memory_order_seq_cst);
        else std::atomic_thread_fence(std::memory_order_seq_cst);
        granted_ = atomics_disabled_.load(std::memory_order_acquire) == Control::no;
        if (!granted_) [[unlikely]]
            withdraw(members, word_, atomics_disabled_);
    }
    [[gnu::always_inline]] ~AtomicAccess() { word_.store(0, std::memory_order_release); }
    AtomicAccess(AtomicAccess const&) = delete;
    AtomicAccess& operator=(AtomicAccess const&) = delete;

    bool granted() const { return granted_; }

private:
    // Static, so that objects can stay in registers.
    [[gnu::cold]] static void withdraw(NodeMembers const& members, Word& word, Word const& atomics_disabled);

    Word& word_;
    Word const& atomics_disabled_;
    bool granted_;
};

/// Changes a member's part so that integers are combined under stripes from now on. Waits for ranks that still combine
/// there by atomic instructions.
void disable_atomics(NodeMembers const& members, std::size_t owner);

// Stripes: locks for accumulates that no atomic instruction performs. The window's memory is divided into granules of 4
// KiB by the addresses in its owner's address space; each granule maps to one of the owner's stripes. A rank that
// combines elements that begin in a granule holds its stripe and no other one, so there is no cycle. A stripe is held
// while 4 KiB are read and written; a rank that holds one never waits.

inline constexpr std::uint64_t granule_bytes = 4096;

class StripeGuard {
public:
    /// Acquires the stripe of the element at `address` (in the address space of member `owner`), waiting if necessary.
    /// Throws Error if the process of a member ended while it held the stripe.
    StripeGuard(NodeMembers const& members, std::size_t owner, std::uint64_t address)
        : lock_(members.controls[owner]->stripe[address / granule_bytes % Control::stripes].word) {
        if (!lock_.try_enter(members.own_index + 1)) [[unlikely]]
            wait(members, lock_);
    }
    ~StripeGuard() { lock_.leave(); }
    StripeGuard(StripeGuard const&) = delete;
    StripeGuard& operator=(StripeGuard const&) = delete;

private:
    static void wait(NodeMembers const& members, ProcessSharedLock lock);

    ProcessSharedLock lock_;
};

// Combining by either method.

/// Memory of a member of this node, as an accumulate accesses it.
struct SharedMemory {
    std::byte* mapped = nullptr;   ///< this process's mapping of `address`; null: accessible through `copy` only
    std::uint64_t address = 0;     ///< in its owner's address space
    NodeMembers const* members = nullptr;   ///< of the window, on this node
    std::size_t owner = 0;                  ///< the member whose memory it is: index among `members`
    SingleCopy* copy = nullptr;             ///< the kernel's access; used if `mapped` is null
    unsigned local_rank = 0;                ///< the owner's local rank, for `copy`
    bool uses_atomics = true;   ///< false: always under stripes, because some ranks reach it by the kernel only

    SharedMemory at(std::int64_t offset) const {
        SharedMemory there = *this;
        if (mapped) there.mapped += offset;
        there.address += static_cast<std::uint64_t>(offset);
        return there;
    }
};

/// Returns true for the kinds that an atomic instruction can combine: integers of 4 and 8 bytes, and Fortran logicals.
constexpr bool supports_atomics(Basic kind) {
    switch (kind) {
    case Basic::int32:
    case Basic::int64:
    case Basic::uint32:
    case Basic::uint64:
    case Basic::fortran_logical: return true;
    default: return false;
    }
}

/// Thrown when the system refuses a copy between processes by the kernel (CMA); the owner must then combine the rest.
/// `combined`: packed bytes, in whole elements, that were combined before.
struct CopyRefused {
    std::size_t combined = 0;
};

/// An operator on elements of one predefined type, with the method of combining them. Combining may throw CopyRefused.
class Accumulation {
public:
    /// Throws Error(op) if the operator is not defined on the elements of `type`, Error(type) if these are not all of
    /// one predefined datatype.
    Accumulation(Op const& op, Datatype const& type);
    /// For a predefined datatype without gaps, with the operator's kernel for it; MPI_REPLACE and MPI_NO_OP have no
    /// kernel.
    Accumulation(BuiltinOp op, Basic kind, std::size_t bytes, BinaryKernel kernel)
        : op_(op), basic_(kind), packed_(bytes), kernel_(kernel), integer_(supports_atomics(kind)) {}
    /// Reconstructs an accumulation that another process described; `packed`: bytes of one element in packed data.
    Accumulation(BuiltinOp op, Basic kind, std::size_t packed);

    BuiltinOp op() const { return op_; }
    Basic basic() const { return basic_; }
    /// Bytes of one element in packed data.
    std::size_t element_bytes() const { return packed_; }
    /// Combines `bytes` bytes, whole elements without gaps, from `in` into `to`. `in` is not read for MPI_NO_OP. `old`:
    /// receives the previous content; may be null.
    void run(SharedMemory const& to, std::byte const* in, std::byte* old, std::size_t bytes) const;
    /// Combines packed bytes [position, position + bytes), whole elements, of `count` elements of `type` at `to`.
    void run_typed(SharedMemory const& to, std::int64_t count, Datatype const& type, std::size_t position,
                   std::byte const* in, std::byte* old, std::size_t bytes) const;
    /// As run_typed(), for `count` copies of a layout, `extent` bytes apart.
    void run_layout(SharedMemory const& to, std::int64_t count, std::int64_t extent, TypeLayout const& layout,
                    std::size_t position, std::byte const* in, std::byte* old, std::size_t bytes) const;

private:
    static constexpr std::size_t max_element_bytes = 64;   ///< bytes; no predefined datatype has more

    /// A piece of an element in memory, `at` bytes from the origin of the elements.
    struct Piece {
        std::int64_t at;
        std::size_t bytes;
    };
    class Elements;

    /// Combines one element that lies in several pieces, in type map order, under the stripe of the first piece.
    void combine_scattered(SharedMemory const& to, std::span<Piece const> pieces, std::byte const* in,
                           std::byte* old) const;
    /// Must be called with the stripe of all these bytes held.
    void combine_in_place(std::byte* at, std::byte const* in, std::byte* old, std::size_t bytes) const;
    void run_under_stripes(SharedMemory const& to, std::byte const* in, std::byte* old, std::size_t bytes) const;
    void combine(std::byte const* in, std::byte* inout, std::size_t elements) const;

    BuiltinOp op_;
    Basic basic_;
    std::size_t packed_;
    BinaryKernel kernel_ = nullptr;   ///< null: MPI_REPLACE, MPI_NO_OP
    bool integer_;                    ///< of a kind that atomic instructions combine
};

/// Compares and swaps the integer at `shared`; the previous value is stored to `old`.
template <class T>
[[gnu::always_inline]] inline void swap_if_equal(std::atomic_ref<T> shared, void const* compare, void const* origin,
                                                 void* old) {
    T expected, desired;
    std::memcpy(&expected, compare, sizeof expected);
    std::memcpy(&desired, origin, sizeof desired);
    shared.compare_exchange_strong(expected, desired, std::memory_order_acq_rel, std::memory_order_acquire);
    std::memcpy(old, &expected, sizeof expected);
}

/// MPI_Compare_and_swap of an element of an integer kind; the previous value is stored to `old`. Throws Error(type) for
/// other kinds.
void compare_and_swap(SharedMemory const& at, Datatype const& type, void const* compare, void const* origin, void* old);
/// As above, for an element of `kind` with `bytes` bytes.
void compare_and_swap(SharedMemory const& at, Basic kind, std::size_t bytes, void const* compare, void const* origin,
                      void* old);
/// Throws Error(type) unless MPI_Compare_and_swap is defined on `type`.
void check_swappable(Datatype const& type);

// The two sides of an operation.

/// Elements in this process's memory.
struct Local {
    void* buffer;   ///< read-only if the operation only reads
    std::int64_t count;
    Datatype const& type;

    static Local of(void const* buffer, std::int64_t count, Datatype const& type) {
        return {const_cast<void*>(buffer), count, type};
    }
};

/// Elements in a target's window.
struct Remote {
    int rank;
    std::int64_t disp;   ///< in units of the target's disp_unit; an address for a dynamic window
    std::int64_t count;
    Datatype const& type;
};

}   // namespace tutti::rma
