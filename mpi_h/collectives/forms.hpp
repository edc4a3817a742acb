// SPDX-License-Identifier: BSD-3-Clause
// A collective call in its three forms: at once, as a request or as a persistent request, whose handles are left to the
// program. Each is known by its name from here on.
#pragma once

#include "coll/call/collectives.hpp"
#include "coll/match/functions.hpp"
#include "mpi_h/entry/entry.hpp"

namespace tutti {

using coll::BoundCall;

/// By which the call is noted.
inline std::uint8_t noted_function(Call const& c) {
    auto& known = c.library_state().known_functions;
    LibraryState::KnownFunction& f = known[(reinterpret_cast<std::uintptr_t>(c.name) >> 3) % known.size()];
    if (f.name != c.name) f = {c.name, coll::function_named(c.name)};
    return f.number;
}

/// At once.
template <class Args>
void run(Call& c, BoundCall<Args> call) {
    call.function = noted_function(c);
    coll::run(call);
}

/// Leaves the request's handle in `*request`.
template <class Args>
void start(Call& c, BoundCall<Args> call, MPI_Request* request) {
    c.pointer(request, "request");
    call.function = noted_function(c);
    Ref<Request> made = coll::start(call);
    *request = library().tables.requests.add(made.detach());
}

/// The same, of a persistent request. Tutti knows no hints for these: `info` is checked and otherwise ignored.
template <class Args>
void init(Call& c, BoundCall<Args> call, MPI_Info info, MPI_Request* request) {
    c.pointer(request, "request");
    if (info != MPI_INFO_NULL) c.info(info);
    call.function = noted_function(c);
    Ref<Request> made = coll::init(call);
    *request = library().tables.requests.add(made.detach());
}

}   // namespace tutti
