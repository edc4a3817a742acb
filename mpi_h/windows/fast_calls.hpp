// SPDX-License-Identifier: BSD-3-Clause
// The two forms of a one-sided call. The fast form (rma/fast_path.hpp) takes a few dozen instructions: it needs no lock
// and checks only its own conditions. It either performs the call or returns false without effect; the call then takes
// the general form, which checks every argument and reports errors.
#pragma once

#include "coll/call/collectives.hpp"
#include "mpi_h/entry/entry.hpp"
#include "rma/fast_path.hpp"
#include "rma/operations.hpp"

namespace tutti {

/// A window that a fast call may use.
struct FastWindow {
    LibraryState* library;
    rma::Window* window;   ///< null: the call takes the general form
};

[[gnu::always_inline]] inline FastWindow find_unlocked(MPI_Win handle) {
    LibraryState* const f = unlocked_library_state.load(std::memory_order_acquire);
    return {f, f ? f->tables.wins.find_direct(handle) : nullptr};
}

/// The fast form for any elements; not inlined, because general_call() has two places for it.
template <class Operation>
[[gnu::noinline]] bool try_fast(FastWindow w, Operation const& operation) {
    return w.window && operation.fast(w, rma::fast::Size::any);
}

/// A call that `Operation` describes (operations.cpp) and that is not a fast word: the fast form for any elements, also
/// with the lock held, else the general form. A separate function with the same arguments as the MPI function, and in
/// tail position there, so that a fast word need not save registers for it.
template <class Operation, class... Arguments>
[[gnu::noinline]] int general_call(Arguments... arguments) {
    Operation const operation{arguments...};
    if (try_fast(find_unlocked(operation.win), operation)) return MPI_SUCCESS;
    return enter(Operation::function, args(arguments...), [&](Call& call) {
        rma::Window& w = call.win(operation.win);
        if (!try_fast({&call.library_state(), &w}, operation)) operation.general(call, w);
    });
}

template <class Operation, class... Arguments>
[[gnu::always_inline]] inline int one_sided_call(Arguments... arguments) {
    Operation const operation{arguments...};
    FastWindow const w = find_unlocked(operation.win);
    if (w.window && operation.fast(w, rma::fast::Size::word)) [[likely]]
        return MPI_SUCCESS;
    return general_call<Operation>(arguments...);
}

inline char const* access_method_name(rma::AccessMethod method) {
    return method == rma::AccessMethod::load_store ? "load and store"
           : method == rma::AccessMethod::cma      ? "CMA"
                                                   : "messages";
}

// Records window calls for mpiexec --stats; costs one load if calls are not recorded. Bodies are inlined, so that the
// variables they use can stay in registers.

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
