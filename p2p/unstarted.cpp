// SPDX-License-Identifier: BSD-3-Clause
// The hint T20 about persistent requests that were not started.
#include "p2p/unstarted.hpp"

#include <algorithm>
#include <ranges>

#include "runtime/base/error.hpp"
#include "runtime/objects/request.hpp"
#include "runtime/wait/reason.hpp"

namespace tutti::p2p {
namespace {

constexpr char how_to_start[] =
    "start a persistent request before this rank waits (MPI_Start, MPI_Startall): to wait for one that is not started "
    "returns immediately and moves no data";

/// Returns the description of the request and its peer among the awaited ranks; no peer for a receive from any source.
Blockage described(Request const& request) {
    Blockage missing;
    request.tell(missing);
    return missing;
}

int peer_in(Blockage const& missing) {
    return missing.awaited.empty() ? -1 : static_cast<int>(missing.awaited.front().first);
}

}   // namespace

void UnstartedRequests::remove(Request const& request) {
    all_.erase(&request);
    for (Waited& one : waited_)
        if (one.request == &request) one.request = nullptr;
}

void UnstartedRequests::waited_for(Request const& request) {
    if (std::ranges::find(waited_, &request, &Waited::request) != waited_.end()) return;
    Blockage const missing = described(request);
    if (peer_in(missing) < 0) return;
    waited_.push_back({&request, missing.call, peer_in(missing)});
    if (waited_.size() > most) waited_.pop_front();
}

void UnstartedRequests::hint(Blockage& blockage) const {
    for (Waited const& one : std::views::reverse(waited_)) {
        if (one.request && one.request->active) continue;   // it was started later
        blockage.hint = {"T20", join("has waited for its persistent ", one.words, ", which it had not started"),
                         how_to_start, one.peer};
        return;
    }
    for (Request const* one : all_) {
        if (one->active) continue;
        Blockage const missing = described(*one);
        if (peer_in(missing) < 0) continue;
        blockage.hint = {"T20", "has not started its persistent " + missing.call, how_to_start, peer_in(missing)};
        return;
    }
}

}   // namespace tutti::p2p
