// SPDX-License-Identifier: BSD-3-Clause
// Amounts: what one rank sends another in a collective must be what the other expects, in size and types (MPI 4.1,
// 6.1). What a rank sends to itself is always compared, because that costs nothing. With --check, ranks also exchange
// the amounts of nonblocking v and w forms when these begin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "coll/env/arguments.hpp"
#include "coll/env/env.hpp"
#include "p2p/matching/operation.hpp"
#include "runtime/objects/comm.hpp"

namespace tutti::coll {

/// Describes data that moves between two ranks. Trivially copyable, because it is sent as bytes.
struct Amount {
    std::uint64_t bytes = 0;
    std::uint64_t signature = 0;   ///< of its types in order; 0: matches any types (MPI_BYTE), or no data

    static Amount of(ConstBuffer const& data);
    bool matches(Amount const& other) const {
        return bytes == other.bytes && (signature == other.signature || signature == 0 || other.signature == 0);
    }
};

/// Returns "4 MPI_INT" or "24 bytes of a derived datatype".
std::string describe(ConstBuffer const& data);

/// Returns "rank 1 sends 12 bytes and rank 0 expects 4"; ranks of the communicator.
std::string describe_difference(int sender, Amount const& sent, int receiver, Amount const& expected);

/// Returns a description if what a call on `comm` sends from this rank to itself differs from what the rank expects;
/// empty if they match, or there is no such part.
std::string own_part_mismatch(Comm const& comm, Collective collective, RootedArgs const& args);
std::string own_part_mismatch(Comm const& comm, Collective, AllgatherArgs const& args);
std::string own_part_mismatch(Comm const& comm, Collective, AlltoallArgs const& args);
template <class Args>
std::string own_part_mismatch(Comm const&, Collective, Args const&) {
    return {};
}

}   // namespace tutti::coll

// Messages within the library that no rank waits for: they are sent in the background and polled from time to time.
// Messages of one rank arrive in order.

namespace tutti {
class Process;
}

namespace tutti::coll {

/// All messages with one tag in the library's own context. Must be called with the rank's lock held.
class Mailbox {
public:
    Mailbox(Process& process, int tag) : process_(process), tag_(tag) {}
    Mailbox(Mailbox const&) = delete;
    Mailbox& operator=(Mailbox const&) = delete;
    /// Called at the end of the process, after its sends have completed; cancels receives that no call waits for.
    ~Mailbox();

    /// `to`: rank in MPI_COMM_WORLD.
    void send(std::vector<std::byte> bytes, int to);
    /// Returns the next message that has arrived, if any.
    std::optional<std::vector<std::byte>> next();

private:
    struct OutgoingMessage : p2p::Send {
        std::vector<std::byte> bytes;
    };
    struct IncomingMessage : p2p::Receive {
        std::vector<std::byte> bytes;
    };

    Process& process_;
    int const tag_;
    std::list<OutgoingMessage> outgoing_;
    std::list<IncomingMessage> incoming_;
};

// --check: compares what each pair of ranks exchanges in a nonblocking v or w form (MPI_Igatherv, MPI_Ialltoallw, …). A
// request may begin long before those of other ranks, so each rank sends each peer the amount that it will send it, and
// compares the amounts it receives with what it expects once both are known.

class CallMatcher;

/// The amounts of one process.
class AmountExchange {
public:
    AmountExchange(Process& process, CallMatcher& matcher) : mailbox_(process, amounts_tag), matcher_(matcher) {}

    /// Called when this rank has begun its call with this number on `comm`, an intracommunicator.
    void begin(Comm const& comm, std::uint64_t number, Collective collective, RootedArgs const& args);
    void begin(Comm const& comm, std::uint64_t number, Collective, AlltoallArgs const& args);
    /// Compares the amounts that have arrived. Does not return if it finds an error.
    void receive();

private:
    static constexpr int amounts_tag = 1403;   // messages in the library's own context

    /// Identifies an amount: the communicator's context, the number of the call, the sender (rank in MPI_COMM_WORLD).
    using Key = std::tuple<std::uint64_t, std::uint64_t, int>;
    struct Sent {
        Amount amount;
        std::uint64_t site = 0;   ///< return address of the call
    };
    struct Expected {
        Amount amount;
        int sender, receiver;   ///< ranks of the communicator
    };

    void send(Comm const& comm, std::uint64_t number, int rank, Amount const& amount);
    void expect(Comm const& comm, std::uint64_t number, int rank, Amount const& amount);
    void compare(Key const& key, Expected const& expected, Sent const& sent);

    Mailbox mailbox_;
    CallMatcher& matcher_;
    std::map<Key, Expected> expected_;   ///< expected amounts that have not arrived
    std::map<Key, Sent> early_;          ///< amounts of calls that this rank has not made yet
};

}   // namespace tutti::coll
