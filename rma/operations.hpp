// SPDX-License-Identifier: BSD-3-Clause
// The operations of MPI 3.1, 11.3, with the checks that need the window. Ranks are those of the window, or
// proc_null. The caller has checked all other arguments. The functions throw Error(rma_sync) outside of an epoch,
// Error(rma_range) beyond the target's memory, Error(op) or Error(type) if an accumulate is not defined.
//
// An operation on memory that this process reaches (by load and store, or CMA) is executed at the target when the call
// returns; the next flush or the end of the epoch only has to order it. An operation by active messages is complete
// only after that flush or end of the epoch.
#pragma once

#include <limits>

#include "rma/accumulate.hpp"
#include "rma/am_messages.hpp"
#include "rma/window.hpp"
#include "runtime/datatype/layout.hpp"
#include "runtime/datatype/op.hpp"
#include "runtime/objects/request.hpp"

// Checks of every operation: whether an epoch towards the target is open, and whether the bytes lie in its window.

namespace tutti::rma {

/// Waits until a target of MPI_Win_start has posted (active_target.cpp).
void await_post(Window& window, Target& t, char const* call);

/// Returns the target, which this process may access now. Throws Error(rma_sync) if it may not.
inline Target& accessible_target(Window& window, int rank, char const* call) {
    Target& t = window.target(rank);
    if (t.epoch == AccessEpoch::none) {
        if (window.global_epoch == AccessEpoch::none) [[unlikely]]
            throw_not_open(window, rank);
        window.fence_used = true;
    } else if (!t.post_seen) {
        await_post(window, t, call);
    }
    return t;
}

/// Returns true if the target, which is accessible, is held by a shared lock and nothing else.
inline bool under_shared_lock(Window const& window, Target const& t) {
    return t.epoch == AccessEpoch::none ? window.global_epoch == AccessEpoch::lock_all
                                        : t.epoch == AccessEpoch::lock && !t.exclusive;
}

/// Returns the offset of the elements' origin in the target's part, in bytes. `disp`: the displacement. Throws
/// Error(rma_range) if not all of them lie in it.
inline std::int64_t element_offset(Window const& window, Target const& t, int rank, std::int64_t disp,
                                   std::int64_t count, Datatype const& type) {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    std::int64_t offset;
    if (__builtin_mul_overflow(disp, t.disp_unit, &offset) || offset > most / 2) [[unlikely]]
        throw_out_of_range(window, rank, disp, most, 0);
    std::int64_t const first = offset + type.true_lb(), bytes = (count - 1) * type.extent() + type.true_extent();
    auto const room = static_cast<std::int64_t>(t.bytes);
    if (first < 0 || bytes > room - first) [[unlikely]] {
        bool const backwards = type.extent() < 0 && count > 1;   // the last element then has the lowest address
        std::int64_t const lowest = backwards ? first + (count - 1) * type.extent() : first,
                           length = backwards ? (1 - count) * type.extent() + type.true_extent() : bytes;
        if (!backwards || lowest < 0 || length > room - lowest) throw_out_of_range(window, rank, disp, lowest, length);
    }
    return offset;
}

/// A location in a window, as this process accesses it.
struct Location {
    std::byte* mapped = nullptr;   ///< of the elements' origin; null: not by load and store
    std::uint64_t address = 0;     ///< of the same origin, in the owner's address space
};

/// For a dynamic window, whose memory is located at each access.
Location locate_attached(Window& window, Target const& t, std::int64_t offset, std::int64_t count,
                         Datatype const& type);

inline Location locate(Window& window, Target const& t, std::int64_t offset, std::int64_t count, Datatype const& type) {
    if (window.flavor == Flavor::dynamic) [[unlikely]]
        return locate_attached(window, t, offset, count, type);
    return {t.memory ? t.memory + offset : nullptr, t.address + static_cast<std::uint64_t>(offset)};
}

/// For a dynamic window: returns true if memory of another rank is reached neither by load and store nor by the kernel.
bool only_owner_reaches(Window& window, Target const& t, std::int64_t offset, std::int64_t count, Datatype const& type);

/// Returns true if the operation must use active messages.
inline bool needs_active_message(Window& window, Target const& t, int rank, std::int64_t offset, std::int64_t count,
                                 Datatype const& type) {
    if (t.method == AccessMethod::active_messages) [[unlikely]]
        return rank != window.rank();
    // The system may later refuse copies that it allowed when the window was created.
    if (t.method == AccessMethod::cma) [[unlikely]]
        return rank != window.rank() && !window.process.single_copy.cma(t.local_rank);
    bool const unsure = window.flavor == Flavor::dynamic && window.active_messages && rank != window.rank();
    return unsure && only_owner_reaches(window, t, offset, count, type);
}

/// Returns the location that locate() finds, with the fields that only accumulates need.
SharedMemory shared_memory(Window& window, Target const& t, std::int64_t offset, std::int64_t count,
                           Datatype const& type);

// `request`: receives the request of MPI_Rput and similar calls, which completes when the buffers may be reused or hold
// the result; may be null.
void put(Window& window, Local const& origin, Remote const& target, Ref<Request>* request = nullptr);
void get(Window& window, Local const& origin, Remote const& target, Ref<Request>* request = nullptr);
void accumulate(Window& window, Local const& origin, Remote const& target, Op const& op,
                Ref<Request>* request = nullptr);
/// `origin` is not read for MPI_NO_OP.
void get_accumulate(Window& window, Local const& origin, Local const& result, Remote const& target, Op const& op,
                    Ref<Request>* request = nullptr);
/// Combines one element of a predefined type; `result` receives the previous value.
void fetch_and_op(Window& window, void const* origin, void* result, Datatype const& type, int rank, std::int64_t disp,
                  Op const& op);
void compare_and_swap(Window& window, void const* origin, void const* compare, void* result, Datatype const& type,
                      int rank, std::int64_t disp);

/// Returns the request of operations that complete within their call: one for all of a window, because it never
/// changes. Under --check each operation has its own.
inline Ref<Request> completed_request(Window& window) {
    if (!window.immediate_request || window.origin_buffers) {
        window.immediate_request = Ref<Request>::adopt(new OneSidedRequest);
        window.immediate_request->complete = true;
        window.immediate_request->comm = window.comm;
    }
    return window.immediate_request;
}

/// --check: makes the request, if any, complete these buffers.
inline void attach_buffers(Ref<Request>* request, std::shared_ptr<OriginBuffers::Operation> buffers) {
    if (request) static_cast<OneSidedRequest&>(**request).set_buffers(std::move(buffers));
}

}   // namespace tutti::rma
