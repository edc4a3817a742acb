// SPDX-License-Identifier: BSD-3-Clause
// The nonblocking sends and receives of the program that it has not completed yet, by their requests and by the memory
// that is theirs until then.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "p2p/matching/operation.hpp"

namespace tutti::p2p {

struct Pending {
    Request const* request;
    bool receives;
    Data data;                             ///< the program's memory
    std::optional<std::uint64_t> digest;   ///< of it in the beginning; none: not known
    std::unique_ptr<std::byte[]> aside;    ///< where the message goes until the program hears of it; null: to `data`
    char const* call;                      ///< that began it
    std::uint64_t site;                    ///< and where that is
    char const* given_up = nullptr;        ///< the call that has freed its communicator meanwhile; null: none has,
    std::uint64_t given_up_at = 0;         ///< and where that is
    bool forgotten = false;                ///< by MPI_Request_free; it goes when its message is there

    /// "MPI_Isend(4 MPI_INT to rank 1, tag 8, MPI_COMM_WORLD)"
    std::string words() const;
};

class PendingOperations {
public:
    /// Replaces one of the same request. The memory of what has gaps is nobody's: others may use the gaps.
    Pending& add(Pending operation);
    Pending* find(Request const& request);
    void remove(Request const& request);
    /// One whose memory `data` shares; null: none, or `data` has gaps. `also_sends`: not only receives.
    Pending const* overlapping(Data const& data, bool also_sends) const;
    /// Those on this communicator.
    std::vector<Pending*> on(Comm const& comm);
    /// Those whose communicator has been freed.
    std::vector<Pending const*> given_up() const;

private:
    using ByAddress = std::multimap<std::uintptr_t, Pending const*>;

    void unlist(Pending const& operation);

    std::unordered_map<Request const*, Pending> all_;
    ByAddress by_address_;      ///< where its memory begins
    std::size_t longest_ = 0;   ///< bytes of any of them, ever
};

}   // namespace tutti::p2p
