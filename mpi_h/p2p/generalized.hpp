// SPDX-License-Identifier: BSD-3-Clause
// Generalised requests (MPI 3.1, 12.2): the program says when one is complete, and its callbacks say how, clean up and
// cancel. They may be written in Fortran, which takes everything by address and answers through its last argument.
#pragma once

#include <optional>

#include "mpi_h/abi/abi.hpp"

namespace tutti {

class GeneralizedRequest final : public Request {
public:
    GeneralizedRequest(MPI_Grequest_query_function* query, MPI_Grequest_free_function* release,
                       MPI_Grequest_cancel_function* cancel, void* extra_state);

    // The callbacks; each throws, or gives back, the error that it returned. `status` may be ignored.
    void query(MPI_Status* status);
    void release();
    void cancel() override;
    /// The last words of a complete one: its status, then the end of what belongs to it. Where both callbacks failed,
    /// the error is the last one's.
    std::optional<Error> finish(MPI_Status* status);

    bool freed = false;     ///< by MPI_Request_free before it was complete: MPI_Grequest_complete gives it up
    bool fortran = false;   ///< the callbacks are Fortran's

private:
    MPI_Grequest_query_function* query_;
    MPI_Grequest_free_function* release_;
    MPI_Grequest_cancel_function* cancel_;
    void* extra_;
};

/// Ends a complete one that nobody will wait for: forgets the handle and calls its free_fn.
void give_up(GeneralizedRequest& request, MPI_Request handle);

/// The generalised request behind a handle that has been checked; null when it is of another kind.
GeneralizedRequest* generalized(Request* request);

}   // namespace tutti
