// SPDX-License-Identifier: BSD-3-Clause
// Requests and the status of what they did (MPI 3.1, 3.7).
#pragma once

#include <cstddef>

#include "runtime/base/error.hpp"
#include "runtime/objects/comm.hpp"
#include "runtime/objects/object.hpp"
#include "runtime/wait/wait.hpp"

namespace tutti {

inline constexpr int any_source = -2;   ///< internal values; mpi_h/ translates the ABI's
inline constexpr int any_tag = -1;
inline constexpr int proc_null = -1;

/// What MPI_Status tells. The default is the empty status of MPI 3.1, 3.7.3.
struct Status {
    int source = any_source;
    int tag = any_tag;
    ErrorClass error = ErrorClass::success;
    std::size_t bytes = 0;   ///< of packed data received
    bool cancelled = false;
    bool ignored =
        false;   ///< the program does not want to know (MPI_STATUS_IGNORE); only where it completes a receive
};

class Request : public Object {
public:
    bool complete = false;   ///< set once by progress; what it waits for is polled by the one wait
    bool persistent = false;
    bool generalized = false;   ///< the program completes it, and its callbacks tell how (MPI 3.1, 12.2)
    bool active = true;         ///< false: persistent, and not started since its last completion was told
    bool special = false;       ///< its end is more than its status: generalized, or settle() has something to do
    Status status;
    Ref<Comm> comm;           ///< whose error handler hears of its errors
    std::string error_text;   ///< the sentence that belongs to status.error
    int error_peer = -1;      ///< as Error has them
    std::uint64_t error_call = 0;

    /// Is its outcome nothing but its status, without an error?
    bool plain() const { return !special && status.error == ErrorClass::success; }

    /// MPI_Start; persistent requests only.
    virtual void start() { fail(ErrorClass::request, "this request is not a persistent one"); }
    /// Moves this one on without waiting, for whoever waits for it; what others move on needs nothing here.
    virtual void advance() {}
    /// MPI_Cancel: tries to; the outcome is in the status after completion.
    virtual void cancel() {}
    /// Complete, and the program is about to hear of it: its buffers are the program's again from now on. Only special
    /// ones are asked, more than once perhaps.
    virtual void settle() {}
    /// MPI_Request_free of a special one: the program will not hear of its end.
    virtual void forget() {}
    /// What it is ("receive of 1 MPI_INT from rank 0, tag 8, MPI_COMM_WORLD", as the blockage's call), and whose acts
    /// would complete it now; asked when somebody has waited for it for long.
    virtual void tell(Blockage& blockage) const { blockage.call = "request"; }
};

}   // namespace tutti
