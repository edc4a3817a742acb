// SPDX-License-Identifier: BSD-3-Clause
// Checks of message buffers that all collectives share: MPI_IN_PLACE where it is not allowed, and the same memory given
// twice (MPI 3.1, 5.1: "no aliasing").
#pragma once

#include "coll/env/arguments.hpp"
#include "mpi_h/entry/entry.hpp"

namespace tutti {

inline bool is_in_place(void const* address) { return address == MPI_IN_PLACE; }

/// An address that must be the user's: not MPI_IN_PLACE.
inline void* own_address(void const* address, char const* argument) {
    if (is_in_place(address)) [[unlikely]]
        fail(ErrorClass::buffer, argument, " is MPI_IN_PLACE, which is not allowed here");
    return const_cast<void*>(address);
}

/// `count` elements of a committed type at an address of the user's.
inline coll::Buffer message(Call& call, void const* address, int count, MPI_Datatype type,
                            char const* address_name = "buffer", char const* count_name = "count",
                            char const* type_name = "datatype") {
    Datatype& t = call.type(type, type_name);
    call.count(count, count_name);
    void* own = own_address(address, address_name);
    call.buffer(own, count, t, address_name);
    return {own, count, &t};
}

/// Both hold data, so they must not start at the same place.
inline void no_alias(coll::ConstBuffer const& send, coll::ConstBuffer const& receive) {
    if (send.address != receive.address || !send.address || !library().check_arguments) return;
    if (send.bytes() > 0 && receive.bytes() > 0)
        fail(ErrorClass::buffer, "sendbuf and recvbuf are the same memory; MPI_IN_PLACE says that in place is meant");
}

}   // namespace tutti
