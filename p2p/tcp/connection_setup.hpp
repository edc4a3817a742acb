// SPDX-License-Identifier: BSD-3-Clause
// Everything that happens before the first frame: calling other ranks, being called, handshakes. Nothing waits.
//
// Calling: the addresses of the other host one after the other, the next one at once when one fails and a moment later
// when it does not answer; the first that proves to be the wanted rank wins. All of them are called again for some
// seconds, since a rank with many callers may hang up on one that is slow to show the key, and for TUTTI_SILENCE while
// an address does not answer at all: a cable may be out, a host may be paused. A host drops the first packet where a
// port has more callers than its system keeps, and the system repeats that packet after a second, so a connection that
// has not been made by then is begun anew much earlier. Time in which the caller itself does not look (its program
// computes, or is stopped) does not count. A rank that is reached and says nothing may be computing, which is no
// failure.
//
// Being called: callers are accepted as they come. Those that do not show the key in their first segment are at most
// UnprovenCallers::most, the oldest of which goes when another one comes; those that do are at most
// `most_calls_of_a_rank` of each rank. Each has at most `patience`. So a caller that is no rank of this job costs
// little memory, gets nowhere and keeps no rank waiting. Where the process has no descriptor left, such callers go
// first; if there is none, a descriptor kept for that purpose serves to hang up on the next caller, and the rank
// reports it.
//
// Where there is no memory for a connection on its way (std::bad_alloc) it is dropped, and the caller calls again.
//
// When two ranks call each other at once one connection is to remain. The called one decides, by its welcome:
//  * the higher rank welcomes the lower one whatever it is about itself, and gives its own call up;
//  * the lower rank welcomes the higher one unless it has proven itself to it already: then that call may be welcome
//    there, so the higher one's is put on hold until the lower one's is, or fails. A call that is given up before its
//    proof has left can have been welcome to nobody.
// A call goes to several addresses, but only one connection at a time is proven: so at most one is welcome.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "p2p/tcp/handshake.hpp"
#include "p2p/tcp/socket.hpp"
#include "p2p/tcp/unproven_callers.hpp"

namespace tutti::p2p::tcp {

class ConnectionSetup {
public:
    static constexpr std::size_t most_calls_of_a_rank = 8;
    static constexpr std::int64_t patience =
        10'000'000'000;   ///< nanoseconds; without an answer to a call no more than TUTTI_SILENCE
    static constexpr std::int64_t call_for = 5'000'000'000;    ///< before a call that is refused has failed for good
    static constexpr std::int64_t stagger = 250'000'000;       ///< between an address and the next one
    static constexpr std::int64_t first_reach = 100'000'000;   ///< of a host that must be reached; doubled each time

    struct Events {
        std::function<void(int rank, Socket)> opened;        ///< an authenticated connection
        std::function<void(int rank, std::string)> failed;   ///< nobody is reached; the sentence says why
        std::function<bool(int rank)> known;                 ///< is there, or was there, a connection already?
        std::function<void(std::string)> no_descriptor;      ///< a caller was refused for that reason; said once
    };

    /// `listeners` may be none: then nobody calls. Their numbers begin at `first_number`, those of other sockets are
    /// above.
    ConnectionSetup(Cluster const& cluster, int me, std::vector<Socket> listeners, std::string network,
                    std::chrono::seconds silence, Poller& poller, std::uint64_t first_number, Events events);

    /// Begins to call a rank of another node, unless that is under way.
    void call(int rank);
    /// Something happened to the socket of that number.
    void ready(std::uint64_t number);
    /// Moves on what depends on time; to be called now and then while busy().
    void tick(std::int64_t now);
    bool busy() const { return !calls_.empty() || !pending_.empty(); }
    std::size_t callers() const { return unproven_.size(); }   ///< that have not shown the key
    /// Hangs up on everybody and listens no more.
    void close();

private:
    /// Why an address is of no use, for now.
    struct Trouble {
        std::string words{};
        bool silent = false;   ///< no host has answered

        static Trouble of_error(int error);
    };
    /// A connection on its way to being one.
    struct PendingConnection {
        Socket socket;
        Handshake handshake;
        int called;              ///< whom we call; −1: we are called
        std::size_t address;     ///< which of its addresses
        std::int64_t until;      ///< the end of our patience
        bool answered = false;   ///< there is somebody
        bool wants_out = true;
    };
    /// Whom we call.
    struct Call {
        std::vector<IpAddress> addresses;
        std::vector<Trouble> troubles;          ///< by address, of its last failure
        std::vector<std::uint64_t> under_way;   ///< by address, the number of its handshake; 0: none
        std::size_t next = 0;                   ///< address to try next; at the end: the round is over
        std::int64_t lasted = 0;                ///< while this rank looked
        std::int64_t next_at = 0, pause = 100'000'000, reach = first_reach;
        std::uint64_t proven = 0;    ///< the handshake to whose other end we have proven ourselves
        std::uint64_t on_hold = 0;   ///< theirs, which waits for ours
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
    std::map<int, std::vector<std::uint64_t>> callers_;   ///< that have shown the key, by rank; the oldest first
    std::map<int, Call> calls_;                           ///< by rank
    std::int64_t ticked_ = 0;
    std::set<std::string> addresses_of_nodes_;   ///< numeric
    std::vector<Interface> own_interfaces_;      ///< as of the first call
    Socket spare_;                               ///< a descriptor for refuse_next(); not a socket
    bool short_of_descriptors_ = false;
};

}   // namespace tutti::p2p::tcp
