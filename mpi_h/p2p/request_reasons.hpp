// SPDX-License-Identifier: BSD-3-Clause
// Reasons of the calls that complete requests: descriptions of what they wait for.
#pragma once

#include <algorithm>
#include <string>

#include "mpi_h/p2p/request_handles.hpp"

namespace tutti {

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
