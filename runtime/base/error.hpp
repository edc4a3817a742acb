// SPDX-License-Identifier: BSD-3-Clause
// Errors have two forms. What a call cannot go on from is thrown, as an Error: an MPI error class and a sentence, which
// mpi_h/ turns into a code and hands to the communicator's error handler (MPI 3.1, 8.3). What there is another
// way for is a value: false, null, an empty optional, or a topo::Result, whose sentence the caller may make an Error.
// Where ranks wait for this one, an Error is kept until they have been served (coll::Truncation, coll::on_node).
#pragma once

#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "topo/base/text_streams.hpp"

namespace tutti {

/// The error classes of MPI 3.1, 8.4, in the standard's order; their numbers belong to the ABI and live in mpi_h/.
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

/// Joins its arguments as a stream would print them.
template <class... Parts>
std::string join(Parts const&... parts) {
    TextWriter out;
    (out << ... << parts);
    return out.str();
}

/// Thrown by whatever finds that a call cannot be carried out.
class Error : public std::runtime_error {
public:
    Error(ErrorClass what, std::string const& sentence) : std::runtime_error(sentence), error_class(what) {}

    /// A user's callback failed with a code of its own (MPI_Add_error_code, attribute callbacks), passed on as it is.
    explicit Error(int code, std::string const& sentence = "a user callback failed")
        : std::runtime_error(sentence), error_class(ErrorClass::other), user_code(code) {}

    /// The same error with what to do about it, where that is more than its class tells; static storage, a sentence
    /// without its full stop.
    Error&& with_help(char const* what_to_do) && {
        help = what_to_do;
        return std::move(*this);
    }

    /// The same of a call that was begun before, and of the rank that does not fit it: as below.
    Error&& of_call(int with_peer, std::uint64_t number) && {
        peer = with_peer;
        call = number;
        return std::move(*this);
    }

    ErrorClass error_class;
    int user_code = 0;
    int peer = -1;            ///< the rank of MPI_COMM_WORLD whose call does not fit; −1: none, or not known
    std::uint64_t call = 0;   ///< of this rank, that failed: its number among those recorded; 0: the last one
    char const* help = "";    ///< empty: what helps with errors of its class
};

/// Whatever was thrown as an Error. A refusal of the system that may be none later, or for less, is a lack of memory;
/// what no part of the library throws (a program's callback does) is an internal error.
Error error_of(std::exception const& thrown);

/// Carries out `act`, which can be left out where there is no memory for it, because only the user's view or the speed
/// depends on it. Returns what `act` returns; false without memory.
template <class Act>
bool unless_out_of_memory(Act const& act) {
    try {
        return act();
    } catch (std::bad_alloc const&) { return false; }
}

/// Throws an Error whose sentence is the joined parts: `fail(ErrorClass::count, "count is ", n, " but …")`.
template <class... Parts>
[[noreturn]] void fail(ErrorClass what, Parts const&... parts) {
    throw Error(what, join(parts...));
}

}   // namespace tutti
