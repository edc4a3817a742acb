// SPDX-License-Identifier: BSD-3-Clause
// --check: what each two ranks exchange in a nonblocking v or w form (MPI_Igatherv, MPI_Ialltoallw, …). A request may
// begin long before the other ranks', so each rank says to each other one what it sends to it, and compares what it
// hears with what it expects, when both are there.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>

#include "coll/env/arguments.hpp"
#include "coll/match/amounts.hpp"
#include "coll/match/mail.hpp"

namespace tutti::coll {

class AllCallRecords;

/// Of a process.
class AmountExchange {
public:
    AmountExchange(Process& process, AllCallRecords& records) : mail_(process, amounts_tag), records_(records) {}

    /// This rank has begun its call with that number on `comm`, an intracommunicator.
    void begin(Comm const& comm, std::uint64_t number, Collective collective, RootedArgs const& args);
    void begin(Comm const& comm, std::uint64_t number, Collective, AlltoallArgs const& args);
    /// Compares what has come. Does not return where it finds an error.
    void take();

private:
    static constexpr int amounts_tag = 1403;   // of messages in the library's own context

    /// Which amount: the communicator's context, the number of the call, who sends it (of MPI_COMM_WORLD).
    using Place = std::tuple<std::uint64_t, std::uint64_t, int>;
    struct Sent {
        Amount amount;
        std::uint64_t site = 0;   ///< of the call: its return address
    };
    struct Expected {
        Amount amount;
        int sender, receiver;   ///< ranks of the communicator
    };

    void send(Comm const& comm, std::uint64_t number, int rank, Amount const& amount);
    void expect(Comm const& comm, std::uint64_t number, int rank, Amount const& amount);
    void compare(Place const& place, Expected const& expected, Sent const& sent);

    Mail mail_;
    AllCallRecords& records_;
    std::map<Place, Expected> expected_;   ///< of which nothing has come
    std::map<Place, Sent> came_;           ///< of calls that this rank has not made
};

}   // namespace tutti::coll
