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
    "start a persistent request before this rank waits (MPI_Start, MPI_Startall): a wait for an inactive request "
    "returns immediately and transfers no data";

/// Returns the description of the request and its peer among the awaited ranks; no peer for a receive from any source.
BlockedCall description_of(Request const& request) {
    BlockedCall description;
    request.describe(description);
    return description;
}

int awaited_peer(BlockedCall const& description) {
    return description.awaited.empty() ? -1 : static_cast<int>(description.awaited.front().first);
}

}   // namespace

void UnstartedRequests::remove(Request const& request) {
    requests_.erase(&request);
    for (RecordedWait& one : recorded_waits_)
        if (one.request == &request) one.request = nullptr;
}

void UnstartedRequests::record_wait(Request const& request) {
    if (std::ranges::find(recorded_waits_, &request, &RecordedWait::request) != recorded_waits_.end()) return;
    BlockedCall const description = description_of(request);
    if (awaited_peer(description) < 0) return;
    recorded_waits_.push_back({&request, description.call, awaited_peer(description)});
    if (recorded_waits_.size() > max_recorded) recorded_waits_.pop_front();
}

void UnstartedRequests::add_hint(BlockedCall& blocked) const {
    for (RecordedWait const& one : std::views::reverse(recorded_waits_)) {
        if (one.request && one.request->active) continue;   // it was started later
        blocked.hint = {"T20", join("has waited for its persistent ", one.description, ", which it had not started"),
                        how_to_start, one.peer};
        return;
    }
    for (Request const* one : requests_) {
        if (one->active) continue;
        BlockedCall const description = description_of(*one);
        if (awaited_peer(description) < 0) continue;
        blocked.hint = {"T20", "has not started its persistent " + description.call, how_to_start,
                        awaited_peer(description)};
        return;
    }
}

}   // namespace tutti::p2p
