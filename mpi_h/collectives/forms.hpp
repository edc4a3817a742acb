// SPDX-License-Identifier: BSD-3-Clause
// A collective call as a request or a persistent request, whose handles are left to the program. The blocking form is
// coll::run as it is.
#pragma once

#include "coll/call/collectives.hpp"
#include "mpi_h/entry/entry.hpp"

namespace tutti {

using coll::BoundCall;

/// Leaves the request's handle in `*request`.
template <class Args>
void start(Call& c, BoundCall<Args> const& call, MPI_Request* request) {
    c.pointer(request, "request");
    Ref<Request> made = coll::start(call);
    *request = library().tables.requests.add(made.detach());
}

/// The same, of a persistent request. Tutti knows no hints for these: `info` is checked and otherwise ignored.
template <class Args>
void init(Call& c, BoundCall<Args> const& call, MPI_Info info, MPI_Request* request) {
    c.pointer(request, "request");
    if (info != MPI_INFO_NULL) c.info(info);
    Ref<Request> made = coll::init(call);
    *request = library().tables.requests.add(made.detach());
}

}   // namespace tutti
