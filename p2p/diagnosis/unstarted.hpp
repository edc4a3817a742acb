// SPDX-License-Identifier: BSD-3-Clause
// Persistent requests that the program has not started: where ranks wait for each other, they may be the reason.
#pragma once

#include <deque>
#include <set>
#include <string>

namespace tutti {
class Request;
struct Blockage;
}   // namespace tutti

namespace tutti::p2p {

class UnstartedRequests {
public:
    /// A persistent request has been made, started or not; it is removed before it is destroyed.
    void add(Request const& request) { all_.insert(&request); }
    void remove(Request const& request);
    /// The program waits for one that is not started, which returns immediately (MPI 3.1, 3.9 and 3.7.3).
    void waited_for(Request const& request);
    /// Says so in `blockage`: of those waited for the last one, else of any that is not started.
    void hint(Blockage& blockage) const;

private:
    struct Waited {
        Request const* request;   ///< null: freed since
        std::string words;
        int peer;   ///< the other side, in MPI_COMM_WORLD
    };
    static constexpr std::size_t most = 16;   ///< the last ones

    std::set<Request const*> all_;
    std::deque<Waited> waited_;
};

}   // namespace tutti::p2p
