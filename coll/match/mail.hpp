// SPDX-License-Identifier: BSD-3-Clause
// Messages of the library between ranks that no rank waits for: they are sent aside and looked for now and then. Those
// of one rank come in order.
#pragma once

#include <cstddef>
#include <list>
#include <optional>
#include <vector>

#include "p2p/matching/operation.hpp"

namespace tutti {
class Process;
}

namespace tutti::coll {

/// All that goes and comes with one tag of the library's own context. Called inside the rank's lock.
class Mail {
public:
    Mail(Process& process, int tag) : process_(process), tag_(tag) {}
    Mail(Mail const&) = delete;
    Mail& operator=(Mail const&) = delete;
    /// At the end of the process, which has waited for its sends; receives that no call waits for are taken back.
    ~Mail();

    /// `to`: of MPI_COMM_WORLD.
    void send(std::vector<std::byte> bytes, int to);
    /// The next one that is here; none: no other has come.
    std::optional<std::vector<std::byte>> next();

private:
    struct Leaving : p2p::Send {
        std::vector<std::byte> bytes;
    };
    struct Arriving : p2p::Receive {
        std::vector<std::byte> bytes;
    };

    Process& process_;
    int const tag_;
    std::list<Leaving> leaving_;
    std::list<Arriving> arriving_;
};

}   // namespace tutti::coll
