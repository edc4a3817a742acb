// SPDX-License-Identifier: BSD-3-Clause
// The fast path of one-sided calls: elements of one predefined datatype on both sides, a window that was used before,
// and a target whose memory is mapped in this process and towards which an epoch is open. It takes a few dozen
// instructions, because only these conditions are checked. Each function either performs the call or returns false
// without effect; the call then takes the full path (operations.cpp, synchronization.cpp), which checks every argument
// and reports errors.
#pragma once

#include "coll/call/collectives.hpp"
#include "mpi_h/entry/entry.hpp"
#include "rma/fast_path.hpp"
#include "rma/operations.hpp"

namespace tutti::fast_calls {

/// The window of a call; null: not among the recent windows.
struct CallWindow {
    LibraryState* library;
    rma::Window* window;
};

/// A recent window needs no other checks (LibraryState::RecentWindow).
[[gnu::always_inline]] inline CallWindow find_recent(MPI_Win handle) {
    LibraryState* const f = the_library_state.load(std::memory_order_acquire);
    if (!f) [[unlikely]]
        return {};
    auto const& one = f->recent_window(handle);
    if (one.handle != handle) [[unlikely]]
        return {};
    if (!one.window) __builtin_unreachable();   // the handle of an empty entry never matches
    return {f, one.window};
}

/// Called on the full path: enters the window for later fast calls, if these are allowed.
inline CallWindow remember_window(LibraryState& f, MPI_Win handle, rma::Window& window) {
    Waiter const* const call_waiter = f.call_waiter.load(std::memory_order_relaxed);
    if (!call_waiter || !call_waiter->must_wrap_calls()) f.recent_window(handle) = {handle, &window};
    return {&f, &window};
}

/// Elements as passed by the program; the two sides may differ in number and datatype.
struct Elements {
    void const* address;
    int count;
    MPI_Datatype datatype;
};

/// Which elements a function handles: one word, which one or two instructions copy or combine, or any. The MPI
/// functions use `word`; the full path tries `any` first, also if several threads call.
enum class ElementSize { word, any };

/// Result of locate_target().
struct TargetElements {
    abi::SimpleType type;
    std::int64_t bytes = 0;
    std::byte* there = nullptr;   ///< address of the target's elements in this process; null: not a fast call
};

/// Locates `count` elements, at most rma::max_direct_bytes bytes.
[[gnu::always_inline]] inline TargetElements locate_target(CallWindow const& recent, int count, MPI_Datatype datatype,
                                                           int rank, MPI_Aint disp) {
    if (!recent.window) [[unlikely]]
        return {};
    abi::SimpleType const& type = recent.library->tables.simple_type(datatype);
    std::int64_t const bytes = std::int64_t{count} * type.bytes;
    if (type.handle != datatype || static_cast<std::uint64_t>(bytes - 1) >= rma::max_direct_bytes) [[unlikely]]
        return {};
    return {type, bytes, rma::direct_address(*recent.window, rank, disp, bytes)};
}

[[gnu::always_inline]] inline bool same_elements(Elements const& a, int count, MPI_Datatype datatype) {
    return a.count == count && a.datatype == datatype;
}

template <ElementSize size>
[[gnu::always_inline]] inline bool copy(void* to, void const* from, std::int64_t bytes) {
    if (rma::copy_word(to, from, bytes)) [[likely]]
        return true;
    if constexpr (size == ElementSize::any) rma::copy_direct(to, from, static_cast<std::size_t>(bytes));
    return size == ElementSize::any;
}

template <ElementSize size>
[[gnu::always_inline]] inline bool put(CallWindow const& recent, Elements const& here, int rank, MPI_Aint disp,
                                       int count, MPI_Datatype datatype) {
    if (!same_elements(here, count, datatype) || Call::no_address(here.address)) [[unlikely]]
        return false;
    TargetElements const to = locate_target(recent, here.count, here.datatype, rank, disp);
    if (!to.there || !copy<size>(to.there, here.address, to.bytes)) [[unlikely]]
        return false;
    recent.window->count(rma::Operation::put, rma::AccessMethod::load_store, static_cast<std::uint64_t>(to.bytes));
    return true;
}

template <ElementSize size>
[[gnu::always_inline]] inline bool get(CallWindow const& recent, Elements const& here, int rank, MPI_Aint disp,
                                       int count, MPI_Datatype datatype) {
    if (!same_elements(here, count, datatype) || Call::no_address(here.address)) [[unlikely]]
        return false;
    TargetElements const from = locate_target(recent, here.count, here.datatype, rank, disp);
    if (!from.there || !copy<size>(const_cast<void*>(here.address), from.there, from.bytes)) [[unlikely]]
        return false;
    recent.window->count(rma::Operation::get, rma::AccessMethod::load_store, static_cast<std::uint64_t>(from.bytes));
    return true;
}

/// Returns the operator if its handle is built-in and its operands are given: for MPI_NO_OP, which is valid only for
/// fetching calls, the origin is not read.
[[gnu::always_inline]] inline Op const* operator_of(CallWindow const& recent, MPI_Op handle, void const* origin,
                                                    void const* old) {
    Op const* const op = recent.library->tables.ops.builtin(handle);
    if (!op || (op->builtin == BuiltinOp::no_op ? !old : Call::no_address(origin))) [[unlikely]]
        return nullptr;
    return op;
}

/// All accumulates except compare-and-swap. `old`: receives the previous content; may be null.
template <ElementSize size>
[[gnu::always_inline]] inline bool combine(CallWindow const& recent, TargetElements const& to, void const* origin,
                                           void* old, int rank, MPI_Op handle) {
    if (!to.there) [[unlikely]]
        return false;
    Op const* const op = operator_of(recent, handle, origin, old);
    if (!op) [[unlikely]]
        return false;
    if (to.bytes == to.type.bytes &&
        rma::combine_word(*recent.window, rank, to.there, to.type.kind, op->builtin, origin, old, to.bytes)) [[likely]]
        return true;
    if constexpr (size == ElementSize::word) return false;
    return rma::combine_direct(*recent.window, rank, to.there,
                               *recent.library->tables.datatypes.builtin(to.type.handle), *op, origin, old, to.bytes);
}

template <ElementSize size>
[[gnu::always_inline]] inline bool accumulate(CallWindow const& recent, Elements const& here, int rank, MPI_Aint disp,
                                              int count, MPI_Datatype datatype, MPI_Op op) {
    if (!same_elements(here, count, datatype)) [[unlikely]]
        return false;
    return combine<size>(recent, locate_target(recent, here.count, here.datatype, rank, disp), here.address, nullptr,
                         rank, op);
}

template <ElementSize size>
[[gnu::always_inline]] inline bool get_accumulate(CallWindow const& recent, Elements const& here,
                                                  Elements const& result, int rank, MPI_Aint disp, int count,
                                                  MPI_Datatype datatype, MPI_Op op) {
    if (!same_elements(here, count, datatype) || !same_elements(result, count, datatype) ||
        Call::no_address(result.address)) [[unlikely]]
        return false;
    return combine<size>(recent, locate_target(recent, here.count, here.datatype, rank, disp), here.address,
                         const_cast<void*>(result.address), rank, op);
}

template <ElementSize size>
[[gnu::always_inline]] inline bool fetch_and_op(CallWindow const& recent, void const* origin, void* result,
                                                MPI_Datatype datatype, int rank, MPI_Aint disp, MPI_Op op) {
    if (Call::no_address(result)) [[unlikely]]
        return false;
    return combine<size>(recent, locate_target(recent, 1, datatype, rank, disp), origin, result, rank, op);
}

[[gnu::always_inline]] inline bool compare_and_swap(CallWindow const& recent, void const* origin, void const* compare,
                                                    void* old, MPI_Datatype datatype, int rank, MPI_Aint disp) {
    if (Call::no_address(origin) || Call::no_address(compare) || Call::no_address(old)) [[unlikely]]
        return false;
    TargetElements const to = locate_target(recent, 1, datatype, rank, disp);
    return to.there && rma::swap_direct(*recent.window, rank, to.there, to.type.kind, compare, origin, old, to.bytes);
}

/// MPI_Rput and MPI_Rget: calls `perform`, which performs the operation, and stores a completed request. Returns false,
/// without effect, if `perform` does, or if the request cannot be stored without allocating.
template <class Operation>
[[gnu::always_inline]] inline bool with_request(CallWindow const& recent, MPI_Request* request,
                                                Operation const& perform) {
    if (!recent.window || !recent.window->immediate_request || Call::no_address(request)) [[unlikely]]
        return false;
    if (!recent.library->tables.requests.has_room() || !perform()) [[unlikely]]
        return false;
    *request = recent.library->tables.requests.add(rma::completed_request(*recent.window).detach());
    return true;
}

// Flushes that are only a fence, because all operations on the target's memory have been executed. `w` may be null.

[[gnu::always_inline]] inline bool flush_all(rma::Window* w) {
    if (!w || !w->open_targets.flush_is_fence) [[unlikely]]
        return false;
    w->order();
    return true;
}

[[gnu::always_inline]] inline bool flush(rma::Window* w, int rank) {
    if (!w || !w->open_targets.contains(rank)) [[unlikely]]
        return false;
    return flush_all(w);
}

/// The buffers have been reusable since the operations returned.
[[gnu::always_inline]] inline bool flush_local(rma::Window* w, int rank) {
    return w && w->open_targets.flush_is_fence && w->open_targets.contains(rank);
}

}   // namespace tutti::fast_calls

// Records window calls for mpiexec --stats; costs one load if calls are not recorded. Bodies are inlined, so that the
// variables they use can stay in registers.

namespace tutti {

inline char const* access_method_name(rma::AccessMethod method) {
    return method == rma::AccessMethod::load_store ? "load and store"
           : method == rma::AccessMethod::cma      ? "CMA"
                                                   : "messages";
}

[[gnu::cold, gnu::noinline]] inline void record_call(rma::Window& w, char const* call, char const* method,
                                                     std::int64_t bytes, std::int64_t began) {
    w.recording->record(w.name, w.size(), call, method, static_cast<std::uint64_t>(bytes), began);
}

/// Runs the body of a synchronization call.
template <class Body>
[[gnu::always_inline]] inline void recorded(rma::Window& w, char const* call, Body const& body) {
    std::int64_t began = 0;
    if (w.recording) [[unlikely]]
        began = now_ns();
    body();
    if (w.access_log) [[unlikely]]
        coll::mark_order_unknown(*w.comm);
    if (began != 0) [[unlikely]]
        record_call(w, call, "", 0, began);
}

/// As above, for an operation that moves `bytes()` bytes to or from a target, which may be MPI_PROC_NULL.
template <class Bytes, class Body>
[[gnu::always_inline]] inline void recorded(rma::Window& w, char const* call, int rank, Bytes const& bytes,
                                            Body const& body) {
    std::int64_t began = 0;
    if (w.recording && rank >= 0) [[unlikely]]
        began = now_ns();
    body();
    if (began != 0) [[unlikely]]
        record_call(w, call, access_method_name(w.target(rank).method), bytes(), began);
}

}   // namespace tutti
