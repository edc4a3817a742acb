// SPDX-License-Identifier: BSD-3-Clause
// Persistent requests that the program has not started. In a deadlock they may be the cause.
#pragma once

#include <deque>
#include <set>
#include <string>

namespace tutti {
class Request;
struct BlockedCall;
}   // namespace tutti

namespace tutti::p2p {

class UnstartedRequests {
public:
    /// Called when a persistent request is created. It must be removed before it is destroyed.
    void add(Request const& request) { requests_.insert(&request); }
    void remove(Request const& request);
    /// Called when the program waits for a request that is not started, which returns immediately (MPI 3.1, 3.9 and
    /// 3.7.3).
    void record_wait(Request const& request);
    /// Sets the hint of `blocked` to the request that the program waited for last, else to any request not started.
    void add_hint(BlockedCall& blocked) const;

private:
    struct RecordedWait {
        Request const* request;   ///< null: freed in the meantime
        std::string description;
        int peer;   ///< rank of the other side in MPI_COMM_WORLD
    };
    static constexpr std::size_t max_recorded = 16;   ///< number of waits remembered

    std::set<Request const*> requests_;         ///< all persistent requests; Request::active marks the started ones
    std::deque<RecordedWait> recorded_waits_;   ///< in the order of the first wait for each request
};

}   // namespace tutti::p2p
