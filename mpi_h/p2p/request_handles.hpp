// SPDX-License-Identifier: BSD-3-Clause
// Arrays of request handles, as passed to the calls that complete or query them. Null handles and inactive persistent
// requests are ignored.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>

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

// Reasons of the calls that complete requests: descriptions of what they wait for.

/// Returns a description such as "receive of 1 MPI_INT from rank 0, tag 8, MPI_COMM_WORLD".
inline std::string description_of(Request const& r) {
    BlockedCall blocked;
    r.describe(blocked);
    return blocked.call;
}

/// Reason of a call that completes all of its requests: names the first one that is not complete.
struct AllOf {
    char const* call;
    ConstHandles handles;

    static void describe(void const* about, BlockedCall& blocked) {
        auto const& [call, handles] = *static_cast<AllOf const*>(about);
        for (std::size_t i = 0; i < handles.size(); ++i) {
            Request const* r = active(handles[i]);
            if (!r || r->complete) continue;
            r->describe(blocked);
            std::string const which = handles.size() == 1 ? "" : join(handles.size(), " requests, of which ", i, ": ");
            blocked.call = join(call, "(", which, blocked.call, ")");
            return;
        }
    }
    Reason reason() const { return {call, -1, -1, describe, this, policy_of(handles)}; }
};

/// Reason of a call that completes one or some of its requests.
struct AnyOf {
    char const* call;
    ConstHandles handles;

    static void describe(void const* about, BlockedCall& blocked) {
        auto const& [call, handles] = *static_cast<AnyOf const*>(about);
        std::string list;
        bool known = true;
        std::size_t open = 0;
        for (MPI_Request h : handles) {
            Request const* r = active(h);
            if (!r) continue;
            BlockedCall one;
            r->describe(one);
            known = known && !one.awaited.empty();
            for (RankRange const& range : one.awaited) add(blocked, range);
            blocked.kind = open == 0 ? one.kind : combine(blocked.kind, one.kind);
            if (blocked.hint == BlockedCall::Hint{}) blocked.hint = one.hint;
            if (++open <= max_listed) list += (list.empty() ? "" : "; ") + one.call;
        }
        if (open > max_listed) list += join("; and ", open - max_listed, " more");
        blocked.call = join(call, "(", open, open == 1 ? " request: " : " requests: ", list, ")");
        blocked.awaiting = Awaiting::any;
        if (!known) blocked.await_unknown();
    }
    Reason reason() const { return {call, -1, -1, describe, this, policy_of(handles)}; }

private:
    static constexpr std::size_t max_listed = 3;
    static CallKind combine(CallKind a, CallKind b) {
        return a == b ? a : is_message(a) || is_message(b) ? CallKind::messages : CallKind::other;
    }
    static void add(BlockedCall& blocked, RankRange const& range) {
        if (std::ranges::find(blocked.awaited, range) == blocked.awaited.end()) blocked.awaited.push_back(range);
    }
};

/// Tests the requests of such a call once; returns the last result of `done`.
template <class Done, class Requests>
bool test(Done&& done, Requests const& requests) {
    auto const call = [&requests] { return requests.reason().blocked_call().call; };
    return waiter().test(done, CallText(call));
}

}   // namespace tutti
