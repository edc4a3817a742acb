// SPDX-License-Identifier: BSD-3-Clause
// Setup of connections to ranks of other nodes: everything before the first frame. order_of_calling decides in which
// order the addresses of a host are tried; ConnectionSetup calls other ranks, accepts calls, and runs the handshakes
// (p2p/tcp/handshake.hpp). Nothing waits.
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
std::vector<IpAddress> order_of_calling(std::vector<std::string> const& theirs, std::vector<Interface> const& ours,
                                        std::string_view network);

// Calling: the addresses of the other host are tried one after the other, the next one immediately if one fails and
// after `stagger` if it does not answer. The first that proves to be the wanted rank wins. All addresses are called
// again for `call_for`, because a rank with many callers may close connections that are slow to show the key, and for
// TUTTI_SILENCE while an address does not answer at all: a cable may be unplugged or a host paused. A host drops the
// first packet if a port has more callers than its backlog, and the system repeats that packet only after a second, so
// a connection without an answer is begun anew much earlier (`first_reach`). Time in which the calling rank does not
// poll (its program computes or is stopped) does not count. A rank that is reached but does not answer may be
// computing; that is no failure.
//
// Being called: all callers are accepted. At most UnprovenCallers::most of them may be without proof of the key, which
// is in the first segment; a new one displaces the oldest. Of callers with proof, each rank may have at most
// `most_calls_of_a_rank`. Each connection has at most `patience`. So a caller that is no rank of this job costs little
// memory, gains nothing and delays no rank. If the process has no free descriptor, callers without proof are closed
// first. If there are none, a reserved descriptor serves to accept and close the next call, and the rank reports that.
//
// If memory is exhausted (std::bad_alloc), the connection being set up is dropped, and the caller calls again.
//
// Crossing calls: if two ranks call each other at the same time, one connection must remain. The called rank decides by
// sending its welcome:
//  * The higher rank always welcomes the lower one and drops its own call.
//  * The lower rank welcomes the higher one unless it has already proved itself to it: its own call may then be welcome
//    there, so the call of the higher rank is put on hold until the lower rank's own call is welcomed or fails. A call
//    that is dropped before its proof has been sent cannot have been welcomed.
//
// A call goes to several addresses, but only one connection at a time sends its proof, so at most one is welcomed.

class ConnectionSetup {
public:
    static constexpr std::size_t most_calls_of_a_rank = 8;
    /// Nanoseconds for the handshake of an incoming call, and for the answer to a call (there at most TUTTI_SILENCE).
    static constexpr std::int64_t patience = 10'000'000'000;
    static constexpr std::int64_t call_for = 5'000'000'000;    ///< nanoseconds until a refused call fails for good
    static constexpr std::int64_t stagger = 250'000'000;       ///< nanoseconds between one address and the next
    static constexpr std::int64_t first_reach = 100'000'000;   ///< nanoseconds to reach a host; doubled each round

    struct Events {
        std::function<void(int rank, Socket)> opened;        ///< an authenticated connection
        std::function<void(int rank, std::string)> failed;   ///< no connection is possible; the string says why
        std::function<bool(int rank)> known;                 ///< is there, or was there, a connection?
        std::function<void(std::string)> no_descriptor;      ///< a caller was refused for that reason; called once
    };

    /// `listeners` may be empty: then no rank can call. Their poller numbers begin at `first_number`; other sockets use
    /// higher ones.
    ConnectionSetup(Cluster const& cluster, int me, std::vector<Socket> listeners, std::string network,
                    std::chrono::seconds silence, Poller& poller, std::uint64_t first_number, Events events);

    /// Begins to call a rank of another node, unless a call is in progress.
    void call(int rank);
    /// Called for an event of the socket with that poller number.
    void ready(std::uint64_t number);
    /// Handles timeouts and repeated calls. Must be called regularly while busy().
    void tick(std::int64_t now);
    bool busy() const { return !calls_.empty() || !pending_.empty(); }
    std::size_t callers() const { return unproven_.size(); }   ///< number of those without proof of the key
    /// Closes all connections being set up and the listeners.
    void close();

private:
    /// Why an address could not be used at its last attempt.
    struct Trouble {
        std::string words{};   ///< error message
        bool silent = false;   ///< the host has not answered

        static Trouble of_error(int error);
    };
    /// A connection being set up.
    struct PendingConnection {
        Socket socket;
        Handshake handshake;
        int called;              ///< the rank that this rank calls; −1: this rank is called
        std::size_t address;     ///< index of its address
        std::int64_t until;      ///< when the connection is dropped
        bool answered = false;   ///< the other side has answered
        bool wants_out = true;
    };
    /// A call to one rank.
    struct Call {
        std::vector<IpAddress> addresses;
        std::vector<Trouble> troubles;          ///< the last failure, by address
        std::vector<std::uint64_t> under_way;   ///< poller number of the handshake, by address; 0: none
        std::size_t next = 0;                   ///< address to try next; past the end: the round is over
        std::int64_t lasted = 0;                ///< nanoseconds in which this rank polled
        std::int64_t next_at = 0, pause = 100'000'000, reach = first_reach;
        std::uint64_t proven = 0;    ///< the handshake in which this rank has sent its proof
        std::uint64_t on_hold = 0;   ///< the other rank's call that waits for this one
    };

    void accept_all(Socket const& listener);
    Socket accept_next(Socket const& listener, std::string& from);
    bool refuse_next(Socket const& listener);
    void shown_key(std::uint64_t number, int rank);
    void forget_caller(std::uint64_t number, int rank);
    template <class Act>
    void unless_starved(std::uint64_t number, Act const& act);
    void step(std::uint64_t number);
    void step_now(std::uint64_t number, PendingConnection& g);
    bool exchange(PendingConnection& g, Trouble& trouble);
    bool receive(PendingConnection& g, Trouble& trouble);
    void drop(std::uint64_t number, Trouble const& trouble);
    void challenged(std::uint64_t number);
    void proven(std::uint64_t number);
    void welcome(std::uint64_t number);
    void opened(std::uint64_t number, int rank);
    void hang_up(int rank);
    bool dial(int rank, Call& call, std::int64_t now);
    bool over(int rank, Call& call, std::int64_t now);
    std::int64_t patience_with(Call const& call) const;
    void after_failure(int rank, std::uint64_t number, std::size_t address, Trouble const& trouble);
    std::string sentence(int rank, Call const& call) const;
    std::uint64_t add(Socket socket, Handshake handshake, int called, std::size_t address, std::int64_t until);

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
    std::map<int, std::vector<std::uint64_t>> callers_;   ///< callers that have shown the key, by rank; oldest first
    std::map<int, Call> calls_;                           ///< by rank
    std::int64_t ticked_ = 0;
    std::set<std::string> addresses_of_nodes_;   ///< numeric addresses
    std::vector<Interface> own_interfaces_;      ///< read at the first call
    Socket spare_;                               ///< reserved descriptor for refuse_next(); not a socket
    bool short_of_descriptors_ = false;          ///< Events::no_descriptor has been called
};

}   // namespace tutti::p2p::tcp
