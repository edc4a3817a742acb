// SPDX-License-Identifier: BSD-3-Clause
// The three forms of a collective call. What a call means is prepared once, whatever its form: communicator, collective
// and arguments; then it is run, started as a request, or made a persistent request.
#pragma once

#include "coll/call/collectives.hpp"
#include "mpi_h/entry/entry.hpp"

namespace tutti {

template <class Args>
struct BoundCall {
    Comm& comm;
    coll::Collective collective;
    Args args;
};

template <class Args>
void run(BoundCall<Args> call) {
    coll::run(call.comm, call.collective, call.args);
}

/// Leaves the request's handle in `*request`.
template <class Args>
void start(Call& c, BoundCall<Args> const& call, MPI_Request* request) {
    c.pointer(request, "request");
    Ref<Request> made = coll::start(call.comm, call.collective, call.args);
    *request = library().tables.requests.add(made.detach());
}

/// The same, of a persistent request. Tutti knows no hints for these: `info` is checked and otherwise ignored.
template <class Args>
void init(Call& c, BoundCall<Args> const& call, MPI_Info info, MPI_Request* request) {
    c.pointer(request, "request");
    if (info != MPI_INFO_NULL) c.info(info);
    Ref<Request> made = coll::init(call.comm, call.collective, call.args);
    *request = library().tables.requests.add(made.detach());
}

}  // namespace tutti
