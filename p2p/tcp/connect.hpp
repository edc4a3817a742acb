// SPDX-License-Identifier: BSD-3-Clause
// Setup of connections to ranks of other nodes: everything before the first frame. connect_order decides in which
// order the addresses of a host are tried; ConnectionSetup connects to other ranks, accepts connections, and runs the
// handshakes (p2p/tcp/handshake.hpp). Nothing waits.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "p2p/tcp/handshake.hpp"
#include "p2p/tcp/socket.hpp"
#include "p2p/tcp/unproven_callers.hpp"
#include "runtime/job/interfaces.hpp"

namespace tutti::p2p::tcp {

/// Returns the addresses of another host in the order in which to try them, judged by this host's interfaces: first
/// addresses in a network of this host, then routed ones, then those in the network of a bridge of this host (such as
/// that of containers: every host may have one with the same addresses), then addresses of this host itself, loopback
/// last. `network` (TUTTI_NETWORK) restricts the result. Texts that are no addresses are ignored.
std::vector<IpAddress> connect_order(std::vector<std::string> const& remote_addresses,
                                     std::vector<Interface> const& own_interfaces, std::string_view network);

// Connecting: the addresses of the other host are tried one after the other, the next one immediately if one fails and
// after `attempt_delay` if it does not answer. The first that proves to be the wanted rank is used. All addresses are
// tried again for `retry_duration`, because a rank with many incoming connections may close those that are slow to
// prove the key, and for TUTTI_SILENCE while an address does not answer at all: a cable may be unplugged or a host
// paused. A host drops the first packet if a port has more connections than its backlog, and the system repeats that
// packet only after a second, so a connection without an answer is started again much earlier
// (`first_attempt_timeout`). Time in which the connecting rank does not poll (its program computes or is stopped) does
// not count. A rank that is reached but does not answer may be computing; that is no failure.
//
// Accepting: all incoming connections are accepted. At most UnprovenCallers::max_callers of them may be without proof
// of the key, which is in the first segment; a new one displaces the oldest. Of connections with proof, each rank may
// have at most `max_handshakes_per_rank`. Each connection has at most `handshake_timeout`. So a process that is no rank
// of this job costs little memory, gains nothing and delays no rank. If the process has no free descriptor, connections
// without proof are closed first. If there are none, a reserved descriptor serves to accept and close the next
// connection, and the rank reports that.
//
// If memory is exhausted (std::bad_alloc), the connection being set up is dropped, and the other rank connects again.
//
// Crossing connections: if two ranks connect to each other at the same time, one connection must remain. The accepting
// rank decides by sending its welcome:
//  * The higher rank always welcomes the lower one and drops its own attempt.
//  * The lower rank welcomes the higher one unless it has already proved itself to it: its own attempt may then be
//    welcomed there, so the connection of the higher rank is held until the lower rank's own attempt is welcomed or
//    fails. An attempt that is dropped before its proof has been sent cannot have been welcomed.
//
// An attempt uses several addresses, but only one connection at a time sends its proof, so at most one is welcomed.

class ConnectionSetup {
public:
    static constexpr std::size_t max_handshakes_per_rank = 8;
    /// Nanoseconds for the handshake of an incoming connection, and for the answer to an outgoing one (there at most
    /// TUTTI_SILENCE).
    static constexpr std::int64_t handshake_timeout = 10'000'000'000;
    /// Nanoseconds until a refused connection fails for good.
    static constexpr std::int64_t retry_duration = 5'000'000'000;
    static constexpr std::int64_t attempt_delay = 250'000'000;   ///< nanoseconds between one address and the next
    /// Nanoseconds to reach a host; doubled each round.
    static constexpr std::int64_t first_attempt_timeout = 100'000'000;

    struct Events {
        std::function<void(int rank, Socket)> opened;        ///< an authenticated connection
        std::function<void(int rank, std::string)> failed;   ///< no connection is possible; the string says why
        std::function<bool(int rank)> is_connected;          ///< is there, or was there, a connection?
        std::function<void(std::string)> no_descriptor;      ///< a connection was refused for that reason; called once
    };

    /// `listeners` may be empty: then no rank can connect. Their poller numbers begin at `first_number`; other sockets
    /// use higher ones.
    ConnectionSetup(Cluster const& cluster, int me, std::vector<Socket> listeners, std::string network,
                    std::chrono::seconds silence, Poller& poller, std::uint64_t first_number, Events events);

    /// Begins to connect to a rank of another node, unless an attempt is in progress.
    void connect(int rank);
    /// Called for an event of the socket with that poller number.
    void ready(std::uint64_t number);
    /// Handles timeouts and repeated attempts. Must be called regularly while busy().
    void tick(std::int64_t now);
    bool busy() const { return !attempts_.empty() || !pending_.empty(); }
    std::size_t unproven_callers() const { return unproven_.size(); }   ///< number of those without proof of the key
    /// Closes all connections being set up and the listeners.
    void close();

private:
    /// Why an address could not be used at its last attempt.
    struct Failure {
        std::string message{};    ///< error message
        bool no_answer = false;   ///< the host has not answered

        static Failure of_error(int error);
    };
    /// A connection being set up.
    struct PendingConnection {
        Socket socket;
        Handshake handshake;
        int target_rank;         ///< the rank to which this rank connects; −1: an incoming connection
        std::size_t address;     ///< index of its address
        std::int64_t until;      ///< when the connection is dropped
        bool answered = false;   ///< the other side has answered
        bool polls_for_output = true;
    };
    /// The attempt to connect to one rank.
    struct Attempt {
        std::vector<IpAddress> addresses;
        std::vector<Failure> failures;           ///< the last failure, by address
        std::vector<std::uint64_t> handshakes;   ///< poller number of the handshake, by address; 0: none
        std::size_t next = 0;                    ///< address to try next; past the end: the round is over
        std::int64_t polled_ns = 0;              ///< nanoseconds in which this rank polled
        std::int64_t next_at = 0, pause = 100'000'000, attempt_timeout = first_attempt_timeout;
        std::uint64_t proven = 0;            ///< the handshake in which this rank has sent its proof
        std::uint64_t held_connection = 0;   ///< the other rank's connection that waits for this one
    };

    void accept_all(Socket const& listener);
    Socket accept_next(Socket const& listener, std::string& from);
    bool refuse_next(Socket const& listener);
    void on_key_proof(std::uint64_t number, int rank);
    void remove_caller(std::uint64_t number, int rank);
    template <class Act>
    void drop_if_no_memory(std::uint64_t number, Act const& act);
    void progress(std::uint64_t number);
    void progress_connection(std::uint64_t number, PendingConnection& g);
    bool exchange(PendingConnection& g, Failure& failure);
    bool receive(PendingConnection& g, Failure& failure);
    void drop(std::uint64_t number, Failure const& failure);
    void challenged(std::uint64_t number);
    void proven(std::uint64_t number);
    void welcome(std::uint64_t number);
    void opened(std::uint64_t number, int rank);
    void drop_attempt(int rank);
    bool try_next_address(int rank, Attempt& attempt, std::int64_t now);
    bool end_round(int rank, Attempt& attempt, std::int64_t now);
    std::int64_t time_limit_of(Attempt const& attempt) const;
    void after_failure(int rank, std::uint64_t number, std::size_t address, Failure const& failure);
    std::string describe_failure(int rank, Attempt const& attempt) const;
    std::uint64_t add(Socket socket, Handshake handshake, int target_rank, std::size_t address, std::int64_t until);

    Cluster const& cluster_;
    int const me_;
    std::vector<Socket> listeners_;
    std::string const network_;
    std::chrono::seconds const silence_;
    Poller& poller_;
    std::uint64_t const first_number_;
    std::uint64_t last_number_;
    Events const events_;
    std::map<std::uint64_t, std::unique_ptr<PendingConnection>> pending_;
    UnprovenCallers unproven_;
    /// Incoming connections that have proved the key, by rank; oldest first.
    std::map<int, std::vector<std::uint64_t>> incoming_;
    std::map<int, Attempt> attempts_;   ///< by rank
    std::int64_t last_tick_ = 0;
    std::set<std::string> addresses_of_nodes_;   ///< numeric addresses
    std::vector<Interface> own_interfaces_;      ///< read at the first attempt
    Socket spare_;                               ///< reserved descriptor for refuse_next(); not a socket
    bool reported_no_descriptor_ = false;        ///< Events::no_descriptor has been called
};

}   // namespace tutti::p2p::tcp
