// SPDX-License-Identifier: BSD-3-Clause
// Errors have two forms. An error that ends a call is thrown as an Error: an MPI error class and a description, which
// mpi_h/ converts to an error code and passes to the communicator's error handler (MPI 3.1, 8.3). An error for which
// the caller has an alternative is a return value: false, null, an empty optional, or a topo::Result, whose message the
// caller may turn into an Error. If other ranks wait for this one, the Error is kept until they have been served
// (coll::Truncation, coll::on_node).
#pragma once

#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "topo/text_streams.hpp"

namespace tutti {

/// The error classes of MPI 3.1, 8.4, in the standard's order. Their numbers belong to the ABI and are defined in
/// mpi_h/.
enum class ErrorClass {
    success,
    buffer,
    count,
    type,
    tag,
    comm,
    rank,
    request,
    root,
    group,
    op,
    topology,
    dims,
    arg,
    unknown,
    truncate,
    other,
    intern,
    in_status,
    pending,
    keyval,
    no_mem,
    info_key,
    info_value,
    info_nokey,
    info,
    name,
    errhandler,
    unsupported,
    win,
    base,
    size,
    disp,
    locktype,
    assertion,
    rma_conflict,
    rma_sync,
    rma_range,
    rma_attach,
    rma_shared,
    rma_flavor
};

/// Concatenates its arguments as a stream would print them.
template <class... Parts>
std::string join(Parts const&... parts) {
    TextWriter out;
    (out << ... << parts);
    return out.str();
}

/// Thrown when a call cannot be carried out.
class Error : public std::runtime_error {
public:
    Error(ErrorClass what, std::string const& message) : std::runtime_error(message), error_class(what) {}

    /// A user callback failed with an error code of its own (MPI_Add_error_code, attribute callbacks), which is passed
    /// on unchanged.
    explicit Error(int code, std::string const& message = "a user callback failed")
        : std::runtime_error(message), error_class(ErrorClass::other), user_code(code) {}

    /// Adds advice on what to do, if it is more specific than that of the error class. The string must have static
    /// storage duration and is a message without its full stop.
    Error&& with_help(char const* what_to_do) && {
        help = what_to_do;
        return std::move(*this);
    }

    /// Sets `peer` and `call`, for an error of a call that this rank began earlier.
    Error&& with_call(int with_peer, std::uint64_t number) && {
        peer = with_peer;
        call = number;
        return std::move(*this);
    }

    ErrorClass error_class;
    int user_code = 0;        ///< error code of a user callback; 0: none
    int peer = -1;            ///< rank of MPI_COMM_WORLD whose call does not match; −1: none, or not known
    std::uint64_t call = 0;   ///< number of this rank's failed call among the recorded ones; 0: the last call
    char const* help = "";    ///< empty: the advice of the error class applies
};

/// Converts an exception to an Error. If the system refuses a resource that may be available later or in a smaller
/// amount, the class is no_mem. Exceptions that no part of the library throws (a program's callback does) become
/// internal errors.
Error error_of(std::exception const& thrown);

/// Calls `act`, which may be omitted if memory is exhausted because only reports to the user or the speed depend on it.
/// Returns what `act` returns, or false if it throws std::bad_alloc.
template <class Act>
bool unless_out_of_memory(Act const& act) {
    try {
        return act();
    } catch (std::bad_alloc const&) { return false; }
}

/// Throws an Error whose description is the concatenation of the parts: `fail(ErrorClass::count, "count is ", n, " but
/// …")`.
template <class... Parts>
[[noreturn]] void fail(ErrorClass what, Parts const&... parts) {
    throw Error(what, join(parts...));
}

}   // namespace tutti
