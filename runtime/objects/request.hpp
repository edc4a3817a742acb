// SPDX-License-Identifier: BSD-3-Clause
// Requests and their status (MPI 3.1, 3.7).
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

/// The contents of MPI_Status. The default is the empty status of MPI 3.1, 3.7.3.
struct Status {
    int source = any_source;
    int tag = any_tag;
    ErrorClass error = ErrorClass::success;
    std::size_t bytes = 0;   ///< of packed data received
    bool cancelled = false;
    bool ignored = false;   ///< the program passed MPI_STATUS_IGNORE; set only if it completes a receive
};

/// A request in flight, inactive or complete. The layer that carries it out derives from it.
class Request : public Object {
public:
    bool complete = false;   ///< set once, by progress
    bool persistent = false;
    bool generalized = false;   ///< the program completes it, and its callbacks determine the status (MPI 3.1, 12.2)
    bool active = true;   ///< false: persistent, and not started since the program was last notified of its completion
    bool needs_finalize = false;   ///< finalize() and abandon() have work to do, or the request is generalized
    Status status;
    Ref<Comm> comm;           ///< errors are reported to its error handler
    std::string error_text;   ///< description of status.error
    int error_peer = -1;      ///< this and error_call: as in Error
    std::uint64_t error_call = 0;

    /// Returns true if the outcome consists only of the status and is not an error.
    bool has_plain_outcome() const { return !needs_finalize && status.error == ErrorClass::success; }

    /// MPI_Start; only persistent requests implement it.
    virtual void start() { fail(ErrorClass::request, "this request is not persistent"); }
    /// Advances this request without blocking, on behalf of a caller that waits for it. Requests that are advanced
    /// elsewhere do not implement it.
    virtual void advance() {}
    /// MPI_Cancel: tries to cancel; the status shows the outcome after completion.
    virtual void cancel() {}
    /// Called when the request is complete, just before the program is notified; from then on the program may use its
    /// buffers again. Called only if needs_finalize, possibly more than once.
    virtual void finalize() {}
    /// MPI_Request_free of a request that needs_finalize: the program will not be notified of its completion.
    virtual void abandon() {}
    /// Describes the request in `blocked.call` ("receive of 1 MPI_INT from rank 0, tag 8, MPI_COMM_WORLD"), and the
    /// ranks whose actions would complete it now. Called when a rank has waited for it for a long time.
    virtual void describe(BlockedCall& blocked) const { blocked.call = "request"; }
};

}   // namespace tutti
