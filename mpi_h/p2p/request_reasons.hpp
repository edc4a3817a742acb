// SPDX-License-Identifier: BSD-3-Clause
// Reasons of the calls that complete requests: descriptions of what they wait for.
#pragma once

#include <algorithm>
#include <string>

#include "mpi_h/p2p/request_handles.hpp"

namespace tutti {

/// Returns a description such as "receive of 1 MPI_INT from rank 0, tag 8, MPI_COMM_WORLD".
inline std::string words_of(Request const& r) {
    Blockage blockage;
    r.tell(blockage);
    return blockage.call;
}

/// Reason of a call that completes all of its requests: names the first one that is not complete.
struct AllOf {
    char const* call;
    ConstHandles handles;

    static void tell(void const* about, Blockage& blockage) {
        auto const& [call, handles] = *static_cast<AllOf const*>(about);
        for (std::size_t i = 0; i < handles.size(); ++i) {
            Request const* r = active(handles[i]);
            if (!r || r->complete) continue;
            r->tell(blockage);
            std::string const which = handles.size() == 1 ? "" : join(handles.size(), " requests, of which ", i, ": ");
            blockage.call = join(call, "(", which, blockage.call, ")");
            return;
        }
    }
    Reason reason() const { return {call, -1, -1, tell, this, policy_of(handles)}; }
};

/// Reason of a call that completes one or some of its requests.
struct AnyOf {
    char const* call;
    ConstHandles handles;

    static void tell(void const* about, Blockage& blockage) {
        auto const& [call, handles] = *static_cast<AnyOf const*>(about);
        std::string list;
        bool known = true;
        std::size_t open = 0;
        for (MPI_Request h : handles) {
            Request const* r = active(h);
            if (!r) continue;
            Blockage one;
            r->tell(one);
            known = known && !one.awaited.empty();
            for (RankRange const& range : one.awaited) add(blockage, range);
            if (blockage.hint == Blockage::Hint{}) blockage.hint = one.hint;
            if (++open <= most_told) list += (list.empty() ? "" : "; ") + one.call;
        }
        if (open > most_told) list += join("; and ", open - most_told, " more");
        blockage.call = join(call, "(", open, open == 1 ? " request: " : " requests: ", list, ")");
        blockage.awaiting = Awaiting::any;
        if (!known) blockage.await_unknown();
    }
    Reason reason() const { return {call, -1, -1, tell, this, policy_of(handles)}; }

private:
    static constexpr std::size_t most_told = 3;
    static void add(Blockage& blockage, RankRange const& range) {
        if (std::ranges::find(blockage.awaited, range) == blockage.awaited.end()) blockage.awaited.push_back(range);
    }
};

/// Tests the requests of such a call once; returns the last result of `done`.
template <class Done, class Requests>
bool test(Done&& done, Requests const& requests) {
    auto const call = [&requests] { return requests.reason().blockage().call; };
    return waiter().test(done, CallText(call));
}

}   // namespace tutti
