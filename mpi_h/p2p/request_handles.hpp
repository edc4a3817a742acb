// SPDX-License-Identifier: BSD-3-Clause
// Arrays of request handles as the calls that complete them or ask for them take them. A null handle and an inactive
// persistent request count as not there.
#pragma once

#include <optional>
#include <span>

#include "mpi_h/entry/entry.hpp"

namespace tutti {

using Handles = std::span<MPI_Request>;
using ConstHandles = std::span<MPI_Request const>;

/// Null for MPI_REQUEST_NULL and inactive persistent requests.
inline Request* active_in(Call& call, MPI_Request handle) {
    if (handle == MPI_REQUEST_NULL) return nullptr;
    Request& r = call.request(handle);
    return r.active ? &r : nullptr;
}

/// The same for handles that have been checked. One that is twice in a list is gone after its first place.
inline Request* active(MPI_Request handle) {
    if (handle == MPI_REQUEST_NULL) return nullptr;
    Request* r = library().tables.requests.find(handle);
    return r && r->active ? r : nullptr;
}

/// The first request's communicator says how to wait (info key tutti_wait).
inline std::optional<WaitPolicy> policy_of(ConstHandles handles) {
    for (MPI_Request h : handles)
        if (Request const* r = active(h)) return r->comm ? r->comm->policy() : std::nullopt;
    return {};
}

inline bool ready(MPI_Request handle) {
    Request* r = active(handle);
    return !r || r->complete;
}

/// The empty status, of a request that is not there; unlike others it says how it went (MPI 3.1, 3.7.3).
inline void store_empty(MPI_Status* to) {
    abi::store(to, {});
    if (to != MPI_STATUS_IGNORE) to->MPI_ERROR = MPI_SUCCESS;
}

/// `Handle` is const where the call leaves the handles as they are.
template <class Handle>
std::span<Handle> checked(Call& call, int count, Handle* requests, char const* argument = "count") {
    call.count(count, argument);
    if (count > 0) call.pointer(requests, "array_of_requests");
    std::span<Handle> handles(requests, static_cast<std::size_t>(count));
    for (MPI_Request h : handles)
        if (h != MPI_REQUEST_NULL) call.request(h);
    return handles;
}

}   // namespace tutti
