// SPDX-License-Identifier: BSD-3-Clause
// The sides of the collectives that move data: plain, v and w forms, checked and turned into parts,
// one for each rank or each edge.
#pragma once

#include <vector>

#include "mpi_h/collectives/buffers.hpp"

namespace tutti {

/// One side of a call, named for its messages.
struct Side {
    char const *buffer, *count, *type;
};
inline constexpr Side send_side{"sendbuf", "sendcount", "sendtype"}, receive_side{"recvbuf", "recvcount", "recvtype"};
inline constexpr Side send_sides{"sendbuf", "sendcounts", "sendtype"};
inline constexpr Side receive_sides{"recvbuf", "recvcounts", "recvtype"};

inline coll::Buffer message(Call& call, void const* address, int count, MPI_Datatype type, Side const& side) {
    return tutti::message(call, address, count, type, side.buffer, side.count, side.type);
}

/// `n` parts, one after the other.
inline coll::Parts equal_parts(Call& call, int n, void const* address, int count, MPI_Datatype type, Side const& side) {
    coll::Buffer const one = message(call, address, count, type, side);
    call.size(static_cast<long>(count) * n, *one.type, side.count);
    return coll::Parts::regular(one.address, one.count, *one.type);
}

/// The v form, of `n` parts.
inline coll::Parts parts(Call& call, int n, void const* address, int const* counts, int const* displs,
                         MPI_Datatype type, Side const& side) {
    Datatype& t = call.type(type, side.type);
    void* base = own_address(address, side.buffer);
    if (n > 0) call.pointer(counts, side.count);
    if (n > 0) call.pointer(displs, "displs");
    for (int i = 0; i < n; ++i) {
        call.count(counts[i], side.count);
        call.buffer(base, counts[i], t, side.buffer);
        call.size(displs[i], t, "displs");
    }
    return coll::Parts::irregular(base, counts, displs, t);
}

/// The w form, with displacements as int or MPI_Aint; `types` is filled here and must outlive the parts.
template <class Displacement>
coll::Parts typed_parts(Call& call, int n, void const* address, int const* counts, Displacement const* displs,
                        MPI_Datatype const* handles, std::vector<Datatype const*>& types, Side const& side) {
    void* base = own_address(address, side.buffer);
    if (n > 0) call.pointer(counts, side.count);
    if (n > 0) call.pointer(displs, "displs");
    if (n > 0) call.pointer(handles, side.type);
    types.reserve(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) {
        call.count(counts[i], side.count);
        types.push_back(&call.type(handles[i], side.type));   // of empty parts, too: MPI wants a valid type
        auto const at = reinterpret_cast<std::intptr_t>(base) + displs[i];
        call.buffer(reinterpret_cast<void*>(at), counts[i], *types.back(), side.buffer);
    }
    return coll::Parts::typed(base, counts, displs, types.data());
}

}   // namespace tutti
