// SPDX-License-Identifier: BSD-3-Clause
// Arrays of request handles, as passed to the calls that complete or query them. Null handles and inactive persistent
// requests are ignored.
#pragma once

#include <optional>
#include <span>

#include "mpi_h/entry/entry.hpp"

namespace tutti {

using Handles = std::span<MPI_Request>;
using ConstHandles = std::span<MPI_Request const>;

/// Returns null for MPI_REQUEST_NULL and inactive persistent requests.
inline Request* active_in(Call& call, MPI_Request handle) {
    if (handle == MPI_REQUEST_NULL) return nullptr;
    Request& r = call.request(handle);
    return r.active ? &r : nullptr;
}

/// As active_in(), for handles that were checked before. A handle that appears twice in an array is invalid after its
/// first entry was completed.
inline Request* active(MPI_Request handle) {
    if (handle == MPI_REQUEST_NULL) return nullptr;
    Request* r = library().tables.requests.find(handle);
    return r && r->active ? r : nullptr;
}

/// The communicator of the first active request defines how to wait (info key tutti_wait).
inline std::optional<WaitPolicy> policy_of(ConstHandles handles) {
    for (MPI_Request h : handles)
        if (Request const* r = active(h)) return r->comm ? r->comm->policy() : std::nullopt;
    return {};
}

/// Returns true if the request is null, inactive or complete. The handle was checked before.
inline bool ready(MPI_Request handle) {
    Request* r = active(handle);
    return !r || r->complete;
}

/// Stores the empty status, for a request that is null or inactive; it is the only status that sets MPI_ERROR (MPI 3.1,
/// 3.7.3).
inline void store_empty(MPI_Status* to) {
    abi::store(to, {});
    if (to != MPI_STATUS_IGNORE) to->MPI_ERROR = MPI_SUCCESS;
}

/// Checks an array of requests and its count. `Handle` is const if the call leaves the handles unchanged.
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
