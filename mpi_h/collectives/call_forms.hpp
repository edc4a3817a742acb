// SPDX-License-Identifier: BSD-3-Clause
// Helpers of all collectives: checks of message buffers, in particular MPI_IN_PLACE where it is not allowed and aliased
// buffers (MPI 3.1, 5.1), and the three forms of a call.
#pragma once

#include "coll/call/collectives.hpp"
#include "coll/env/arguments.hpp"
#include "coll/match/call_record.hpp"
#include "mpi_h/entry/entry.hpp"

namespace tutti {

inline bool is_in_place(void const* address) { return address == MPI_IN_PLACE; }

/// Returns the address, which must belong to the program. Throws Error(buffer) for MPI_IN_PLACE.
inline void* own_address(void const* address, char const* argument) {
    if (is_in_place(address)) [[unlikely]]
        fail(ErrorClass::buffer, argument, " is MPI_IN_PLACE, which is not allowed here");
    return const_cast<void*>(address);
}

/// Checks `count` elements of a committed type at an address of the program.
inline coll::Buffer message(Call& call, void const* address, int count, MPI_Datatype type,
                            char const* address_name = "buffer", char const* count_name = "count",
                            char const* type_name = "datatype") {
    Datatype& t = call.type(type, type_name);
    call.count(count, count_name);
    void* own = own_address(address, address_name);
    call.buffer(own, count, t, address_name);
    return {own, count, &t};
}

/// Throws Error(buffer) if both buffers contain data and begin at the same address.
inline void no_alias(coll::ConstBuffer const& send, coll::ConstBuffer const& receive) {
    if (send.address != receive.address || !send.address || !library().check_arguments) return;
    if (send.bytes() > 0 && receive.bytes() > 0)
        fail(ErrorClass::buffer,
             "sendbuf and recvbuf are the same memory; pass MPI_IN_PLACE for an in-place operation");
}

// The three forms of a collective: blocking, with a request, and with a persistent request. The program owns the
// handles of the requests.

using coll::BoundCall;

/// Blocking form.
template <class Args>
void run(Call& c, BoundCall<Args> call) {
    call.function = c.function;
    coll::execute(call);
}

/// Nonblocking form: stores the request's handle in `*request`.
template <class Args>
void start(Call& c, BoundCall<Args> call, MPI_Request* request) {
    c.pointer(request, "request");
    call.function = c.function;
    Ref<Request> made = coll::start(call);
    *request = library().tables.requests.add(made.detach());
}

/// Persistent form. No hints are supported: `info` is checked and otherwise ignored.
template <class Args>
void init(Call& c, BoundCall<Args> call, MPI_Info info, MPI_Request* request) {
    c.pointer(request, "request");
    if (info != MPI_INFO_NULL) c.info(info);
    call.function = c.function;
    Ref<Request> made = coll::init(call);
    *request = library().tables.requests.add(made.detach());
}

}   // namespace tutti
