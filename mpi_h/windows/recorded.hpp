// SPDX-License-Identifier: BSD-3-Clause
// Calls about windows in the call statistics of mpiexec --stats; a look at one word where they are not kept. Bodies are
// not handed on, so that what they use need not lie in memory.
#pragma once

#include "coll/call/collectives.hpp"
#include "mpi_h/entry/entry.hpp"

namespace tutti {

inline char const* words(rma::Path path) {
    return path == rma::Path::load_store ? "load and store" : path == rma::Path::cma ? "CMA" : "messages";
}

[[gnu::cold, gnu::noinline]] inline void note_call(rma::Window& w, char const* call, char const* way,
                                                   std::int64_t bytes, std::int64_t began) {
    w.recording->note(w.name, w.size(), call, way, static_cast<std::uint64_t>(bytes), began);
}

/// Runs the body of a call that synchronises.
template <class Body>
[[gnu::always_inline]] inline void recorded(rma::Window& w, char const* call, Body const& body) {
    std::int64_t began = 0;
    if (w.recording) [[unlikely]]
        began = now_ns();
    body();
    if (w.accesses) [[unlikely]]
        coll::forget_order(*w.comm);
    if (began != 0) [[unlikely]]
        note_call(w, call, "", 0, began);
}

/// The same of an operation that moves `bytes()` bytes to or from a target, which may be MPI_PROC_NULL.
template <class Bytes, class Body>
[[gnu::always_inline]] inline void recorded(rma::Window& w, char const* call, int rank, Bytes const& bytes,
                                            Body const& body) {
    std::int64_t began = 0;
    if (w.recording && rank >= 0) [[unlikely]]
        began = now_ns();
    body();
    if (began != 0) [[unlikely]]
        note_call(w, call, words(w.target(rank).path), bytes(), began);
}

}   // namespace tutti
