// SPDX-License-Identifier: BSD-3-Clause
// Generalized requests (MPI 3.1, 12.2): the program declares a request complete, and its callbacks query, free and
// cancel it. Callbacks may be written in Fortran; they then take all arguments by address and return their code in the
// last one.
#pragma once

#include <optional>

#include "mpi_h/abi/abi.hpp"

namespace tutti {

class GeneralizedRequest final : public Request {
public:
    GeneralizedRequest(MPI_Grequest_query_function* query, MPI_Grequest_free_function* release,
                       MPI_Grequest_cancel_function* cancel, void* extra_state);

    // The callbacks. Each throws, or returns, the error that its function returned. `status` may be MPI_STATUS_IGNORE.
    void query(MPI_Status* status);
    void release();
    void cancel() override;
    /// Completes the request: writes its status, then calls its free_fn. If both callbacks fail, returns the error of
    /// the latter.
    std::optional<Error> finish(MPI_Status* status);

    bool freed = false;     ///< by MPI_Request_free before completion: MPI_Grequest_complete then destroys it
    bool fortran = false;   ///< the callbacks are Fortran procedures

private:
    MPI_Grequest_query_function* query_;
    MPI_Grequest_free_function* release_;
    MPI_Grequest_cancel_function* cancel_;
    void* extra_;
};

/// Destroys a complete request for which no call will wait: removes the handle and calls its free_fn.
void destroy_completed(GeneralizedRequest& request, MPI_Request handle);

/// Returns the request as a generalized one; null if it is of another kind.
GeneralizedRequest* generalized(Request* request);

}   // namespace tutti
