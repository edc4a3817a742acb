// SPDX-License-Identifier: BSD-3-Clause
// Both methods of combining: atomic instructions, and kernels under a stripe.
#include "rma/accumulate.hpp"

#include <algorithm>
#include <cstring>

#include "runtime/base/error.hpp"
#include "runtime/base/flag.hpp"
#include "runtime/base/process_identity.hpp"
#include "runtime/datatype/datatype.hpp"
#include "runtime/datatype/layout.hpp"
#include "runtime/wait/short_wait.hpp"

namespace tutti::rma {
namespace {

/// Returns the one predefined datatype that a datatype consists of; null: there are several.
Datatype const* element_of(Datatype const& type) {
    if (type.basic() != Basic::none || !type.recipe()) return &type;
    Datatype const* all = nullptr;
    for (Ref<Datatype> const& part : type.recipe()->types) {
        Datatype const* one = element_of(*part);
        if (one && one->size() == 0) continue;   // bounds
        if (!one || (all && one->basic() != all->basic())) return nullptr;
        all = one;
    }
    return all;
}

/// Returns true for the kinds on which MPI_Compare_and_swap is defined (MPI 3.1, 11.3.4).
bool supports_compare_and_swap(Basic kind) {
    switch (kind) {
    case Basic::byte_:
    case Basic::int8:
    case Basic::int16:
    case Basic::uint8:
    case Basic::uint16:
    case Basic::c_bool: return true;
    default: return supports_atomics(kind);
    }
}

/// Returns the previous value. Operators without an instruction of their own use a compare-and-swap loop.
template <class T>
T combine_one(T& at, T in, BuiltinOp op, BinaryKernel kernel) {
    std::atomic_ref<T> shared(at);
    switch (op) {
    case BuiltinOp::no_op: return shared.load(std::memory_order_acquire);
    case BuiltinOp::replace: return shared.exchange(in, std::memory_order_acq_rel);
    case BuiltinOp::sum: return shared.fetch_add(in, std::memory_order_acq_rel);
    case BuiltinOp::band: return shared.fetch_and(in, std::memory_order_acq_rel);
    case BuiltinOp::bor: return shared.fetch_or(in, std::memory_order_acq_rel);
    case BuiltinOp::bxor: return shared.fetch_xor(in, std::memory_order_acq_rel);
    default: break;
    }
    T old = shared.load(std::memory_order_relaxed), combined;
    do {
        combined = old;
        kernel(&in, &combined, 1);
    } while (!shared.compare_exchange_weak(old, combined, std::memory_order_acq_rel, std::memory_order_relaxed));
    return old;
}

template <class T>
void combine_each(std::byte* at, std::byte const* in, std::byte* old, std::size_t bytes, BuiltinOp op,
                  BinaryKernel kernel) {
    T* const elements = reinterpret_cast<T*>(at);
    for (std::size_t i = 0; i < bytes / sizeof(T); ++i) {
        T value{};
        if (op != BuiltinOp::no_op) std::memcpy(&value, in + i * sizeof(T), sizeof(T));
        if (op == BuiltinOp::replace && !old) {
            std::atomic_ref<T>(elements[i]).store(value, std::memory_order_release);
            continue;
        }
        T const before = combine_one(elements[i], value, op, kernel);
        if (old) std::memcpy(old + i * sizeof(T), &before, sizeof(T));
    }
}

template <class Body>
void with_integer_type(std::size_t bytes, Body&& body) {
    switch (bytes) {
    case 4: return body(std::uint32_t{});
    case 8: return body(std::uint64_t{});
    }
}

/// Access to bytes that only the kernel reaches. Returns false if the system refuses.
bool fetch(SharedMemory const& from, std::byte* to, std::size_t bytes) {
    return from.copy->read(from.local_rank, from.address, to, bytes);
}
bool store(SharedMemory const& to, std::byte const* from, std::size_t bytes) {
    return to.copy->write(to.local_rank, to.address, from, bytes);
}

/// The system has refused to write one of an element's two pieces. Throws CopyRefused for the first one, for the second
/// one an Error, because the owner cannot repeat an element that is half written.
[[noreturn]] void throw_half_written(bool second) {
    if (!second) throw CopyRefused{};
    fail(ErrorClass::other,
         "the system refused to write the second half of an element of the window (process_vm_writev); the first half "
         "was already written");
}

/// Returns how many of `bytes` bytes, in whole elements, begin in the granule of the first one.
std::size_t in_granule(std::uint64_t address, std::size_t element, std::size_t bytes) {
    std::uint64_t const left = granule_bytes - address % granule_bytes;
    return std::min<std::size_t>(bytes, (left + element - 1) / element * element);
}

}   // namespace

Accumulation::Accumulation(Op const& op, Datatype const& type) : op_(op.builtin) {
    if (op_ == BuiltinOp::none) fail(ErrorClass::op, "op is not a predefined operator");
    Datatype const* const element = type.basic() != Basic::none ? &type : element_of(type);
    if (!element)
        fail(ErrorClass::type,
             "the datatype consists of several predefined datatypes, for which no operator is defined");
    basic_ = element->basic();
    packed_ = std::max<std::size_t>(1, static_cast<std::size_t>(element->size()));
    integer_ = supports_atomics(basic_);
    if (op_ == BuiltinOp::replace || op_ == BuiltinOp::no_op) return;
    bool const padded = element->size() != element->extent();
    kernel_ = padded ? packed_pair_kernels(op_, basic_).binary : nullptr;
    if (!kernel_) kernel_ = op.kernels(*element).binary;
}

Accumulation::Accumulation(BuiltinOp op, Basic kind, std::size_t packed)
    : op_(op), basic_(kind), packed_(packed), integer_(supports_atomics(kind)) {
    if (op_ == BuiltinOp::replace || op_ == BuiltinOp::no_op) return;
    Kernels const padded = packed_pair_kernels(op_, basic_);
    kernel_ = padded.binary ? padded.binary : binary_kernel(op_, basic_);
}

void Accumulation::combine(std::byte const* in, std::byte* inout, std::size_t elements) const {
    if (op_ == BuiltinOp::replace) std::memcpy(inout, in, elements * packed_);
    else if (op_ != BuiltinOp::no_op) kernel_(in, inout, elements);
}

void Accumulation::run(SharedMemory const& to, std::byte const* in, std::byte* old, std::size_t bytes) const {
    if (!integer_ || !to.uses_atomics || to.address % packed_ != 0) return run_under_stripes(to, in, old, bytes);
    if (bytes >= many_elements * packed_) {
        disable_atomics(*to.members, to.owner);
        return run_under_stripes(to, in, old, bytes);
    }
    {
        AtomicAccess const access(*to.members, to.owner);
        if (access.granted())
            return with_integer_type(
                packed_, [&](auto word) { combine_each<decltype(word)>(to.mapped, in, old, bytes, op_, kernel_); });
    }
    run_under_stripes(to, in, old, bytes);
}

void Accumulation::combine_in_place(std::byte* at, std::byte const* in, std::byte* old, std::size_t bytes) const {
    if (old) std::memcpy(old, at, bytes);
    combine(in, at, bytes == packed_ ? 1 : bytes / packed_);
}

void Accumulation::run_under_stripes(SharedMemory const& to, std::byte const* in, std::byte* old,
                                     std::size_t bytes) const {
    if (to.mapped && to.address % granule_bytes + bytes <= granule_bytes) {
        StripeGuard const guard(*to.members, to.owner, to.address);
        return combine_in_place(to.mapped, in, old, bytes);
    }
    for (std::size_t done = 0; done < bytes;) {
        SharedMemory const here = to.at(static_cast<std::int64_t>(done));
        std::size_t const n = in_granule(here.address, packed_, bytes - done);
        std::byte const* const operand = in ? in + done : nullptr;
        StripeGuard const guard(*to.members, to.owner, here.address);
        if (here.mapped) {
            combine_in_place(here.mapped, operand, old ? old + done : nullptr, n);
        } else {
            std::byte copy[granule_bytes + max_element_bytes];
            if (!fetch(here, copy, n)) throw CopyRefused{done};
            if (old) std::memcpy(old + done, copy, n);
            combine(operand, copy, n / packed_);
            if (op_ != BuiltinOp::no_op && !store(here, copy, n)) throw CopyRefused{done};
        }
        done += n;
    }
}

void Accumulation::combine_scattered(SharedMemory const& to, std::span<Piece const> pieces, std::byte const* in,
                                     std::byte* old) const {
    SharedMemory const first = to.at(pieces.front().at);
    StripeGuard const guard(*to.members, to.owner, first.address);
    std::byte element[max_element_bytes];
    std::byte* packed = element;
    for (Piece const& piece : pieces) {
        SharedMemory const here = to.at(piece.at);
        if (here.mapped) std::memcpy(packed, here.mapped, piece.bytes);
        else if (!fetch(here, packed, piece.bytes)) throw CopyRefused{};
        packed += piece.bytes;
    }
    if (old) std::memcpy(old, element, packed_);
    if (op_ == BuiltinOp::no_op) return;
    combine(in, element, 1);
    packed = element;
    for (Piece const& piece : pieces) {
        SharedMemory const here = to.at(piece.at);
        if (here.mapped) std::memcpy(here.mapped, packed, piece.bytes);
        else if (!store(here, packed, piece.bytes)) throw_half_written(packed != element);
        packed += piece.bytes;
    }
}

/// Takes the runs of a layout in type map order and combines the elements in them. A run may contain many elements, or
/// a part of one: the members of MPI_SHORT_INT are two runs, and either of them may be merged with a neighboring run.
class Accumulation::Elements {
public:
    Elements(Accumulation const& how, SharedMemory const& to, std::byte const* in, std::byte* old)
        : how_(how), to_(to), in_(in), old_(old) {}

    void run(std::int64_t at, std::int64_t n) {
        auto bytes = static_cast<std::size_t>(n);
        if (begun_ != 0) [[unlikely]] {
            std::size_t const rest = std::min(bytes, how_.packed_ - begun_);
            add_piece(at, rest);
            at += static_cast<std::int64_t>(rest);
            bytes -= rest;
        }
        std::size_t const part = bytes == how_.packed_ ? 0 : bytes % how_.packed_, whole = bytes - part;
        if (whole != 0) {
            how_.run(to_.at(at), in_, old_, whole);
            advance(whole);
        }
        if (part != 0) [[unlikely]]
            add_piece(at + static_cast<std::int64_t>(whole), part);
    }
    void strided(std::int64_t at, std::int64_t stride, std::int64_t block, std::int64_t times) {
        for (std::int64_t i = 0; i < times; ++i) run(at + i * stride, block);
    }

    std::size_t combined = 0;   ///< bytes so far

private:
    void add_piece(std::int64_t at, std::size_t bytes) {
        pieces_[count_++] = {at, bytes};
        begun_ += bytes;
        if (begun_ < how_.packed_) return;
        how_.combine_scattered(to_, {pieces_, count_}, in_, old_);
        advance(how_.packed_);
        begun_ = count_ = 0;
    }
    void advance(std::size_t bytes) {
        combined += bytes;
        if (in_) in_ += bytes;
        if (old_) old_ += bytes;
    }

    Accumulation const& how_;
    SharedMemory const& to_;
    std::byte const* in_;
    std::byte* old_;
    Piece pieces_[2];                     // an element has at most two members
    std::size_t count_ = 0, begun_ = 0;   // pieces and bytes of an incomplete element
};

void Accumulation::run_typed(SharedMemory const& to, std::int64_t count, Datatype const& type, std::size_t position,
                             std::byte const* in, std::byte* old, std::size_t bytes) const {
    if (type.dense(count)) return run(to.at(type.true_lb() + static_cast<std::int64_t>(position)), in, old, bytes);
    run_layout(to, count, type.extent(), *type.layout(), position, in, old, bytes);
}

void Accumulation::run_layout(SharedMemory const& to, std::int64_t count, std::int64_t extent, TypeLayout const& layout,
                              std::size_t position, std::byte const* in, std::byte* old, std::size_t bytes) const {
    Elements sink(*this, to, in, old);
    try {
        TypeWalk(sink).repeated(layout, 0, count, extent, static_cast<std::int64_t>(position),
                                static_cast<std::int64_t>(bytes));
    } catch (CopyRefused& refused) {
        refused.combined += sink.combined;
        throw;
    }
}

void check_swappable(Datatype const& type) {
    if (!supports_compare_and_swap(type.basic()))
        fail(ErrorClass::type, "MPI_Compare_and_swap is defined only for integers, logicals and MPI_BYTE");
}

void compare_and_swap(SharedMemory const& at, Datatype const& type, void const* compare, void const* origin,
                      void* old) {
    check_swappable(type);
    compare_and_swap(at, type.basic(), static_cast<std::size_t>(type.size()), compare, origin, old);
}

void compare_and_swap(SharedMemory const& at, Basic kind, std::size_t bytes, void const* compare, void const* origin,
                      void* old) {
    if (at.uses_atomics && supports_atomics(kind) && at.address % bytes == 0) {
        AtomicAccess const access(*at.members, at.owner);
        if (access.granted())
            return with_integer_type(bytes, [&](auto word) {
                swap_if_equal(std::atomic_ref(*reinterpret_cast<decltype(word)*>(at.mapped)), compare, origin, old);
            });
    }
    StripeGuard const guard(*at.members, at.owner, at.address);
    std::byte copy[8];
    if (at.mapped) std::memcpy(copy, at.mapped, bytes);
    else if (!fetch(at, copy, bytes)) throw CopyRefused{};
    bool const same = std::memcmp(copy, compare, bytes) == 0;
    std::memcpy(old, copy, bytes);
    if (!same) return;
    if (at.mapped) std::memcpy(at.mapped, origin, bytes);
    else if (!store(at, static_cast<std::byte const*>(origin), bytes)) throw CopyRefused{};
}

// The change from atomic instructions to stripes.

namespace {

void await_change(NodeMembers const& members, Word const& atomics_disabled) {
    wait_briefly(
        atomics_disabled, [](std::uint64_t value) { return value == Control::yes; },
        [&] { members.check_alive(atomics_disabled.load(std::memory_order_relaxed) - Control::begun); });
}

}   // namespace

void AtomicAccess::withdraw(NodeMembers const& members, Word& word, Word const& atomics_disabled) {
    word.store(0, std::memory_order_release);
    await_change(members, atomics_disabled);
}

void disable_atomics(NodeMembers const& members, std::size_t owner) {
    Word& atomics_disabled = members.controls[owner]->atomics_disabled.word;
    if (atomics_disabled.load(std::memory_order_acquire) == Control::yes) return;
    std::uint64_t was = Control::no;
    if (!atomics_disabled.compare_exchange_strong(was, Control::begun + members.own_index, std::memory_order_acq_rel))
        return await_change(members, atomics_disabled);
    if (members.has_remote_fences) fence_registered_processes();
    else std::atomic_thread_fence(std::memory_order_seq_cst);
    for (std::size_t member = 0; member < members.controls.size(); ++member)
        wait_briefly(
            members.controls[member]->atomic_access.word, [&](std::uint64_t value) { return value != owner + 1; },
            [&] { members.check_alive(member); });
    atomics_disabled.store(Control::yes, std::memory_order_release);
}

// Contended stripes, and members that have ended.

void StripeGuard::wait(NodeMembers const& members, ProcessSharedLock lock) {
    lock.enter(members.own_index + 1, [&](std::uint64_t holder) { members.check_alive(holder - 1); });
}

void NodeMembers::check_alive(std::size_t member) const {
    Control const& control = *controls[member];
    if (control.process == 0 || !same_pid_namespace(pid_namespace(), control.pid_namespace)) return;
    if (ProcessWatch(ProcessIdentity(control.process)).is_alive()) return;
    fail(ErrorClass::other, "rank ", control.world_rank,
         " has ended while it accumulated into a window that this call accesses");
}

}   // namespace tutti::rma
