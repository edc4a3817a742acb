// SPDX-License-Identifier: BSD-3-Clause
// All connections of a rank to ranks of other nodes: made when first used, polled together, closed with a goodbye.
// Like the engine it is called by one thread at a time and never waits.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "p2p/tcp/connection_setup.hpp"
#include "p2p/tcp/link.hpp"
#include "runtime/memory/segment.hpp"

namespace tutti::p2p::tcp {

class Network {
public:
    /// How long a link may be broken before what waits for it fails: the launcher often knows better what happened.
    static constexpr std::int64_t grace = 500'000'000;
    /// How often the system is asked for what has come while nothing comes, in nanoseconds: asking takes much longer
    /// than looking into the rings of this node, whose messages should not wait for that.
    static constexpr std::int64_t lull = 2'000;

    /// Calls are accepted on `listeners`, which become this object's; none: no rank calls. `network` as TUTTI_NETWORK,
    /// `silence` as TUTTI_SILENCE.
    Network(Cluster const& cluster, int me, std::vector<Socket> listeners, std::string network,
            std::chrono::seconds silence, Handler& handler);

    /// Takes the memory that the next `frames` calls of send to a rank of another node need; calls the rank if there is
    /// no connection yet.
    void reserve(int rank, std::size_t frames);
    /// As Link::send, likewise.
    bool send(int rank, Frame const& frame, std::byte const* data = nullptr, void* sender = nullptr,
              std::unique_ptr<std::byte[]> own = nullptr);
    bool take_back(int rank, void const* sender);
    /// Handler::refill has something now. What there is no memory for is sent later.
    void flush(int rank);

    /// Moves everything on; true when anything moved. Throws std::bad_alloc when there was no memory for something and
    /// nothing else moved; then another call goes on.
    bool poll();
    /// The same, first of all for what comes from one rank.
    bool poll(int rank);
    /// As Poller::descriptor.
    int descriptor() const { return poller_.descriptor(); }
    /// Everything to be sent was given to the system.
    bool idle() const;

    /// Says goodbye to everybody. Nothing may be sent after it.
    void say_goodbye();
    /// All others have said goodbye, too, or are gone.
    bool parted() const;
    /// Adds those who have not, and are not.
    void add_staying(std::vector<int>& ranks) const;
    /// Adds what went to and came from suspected ranks. What is sent over a broken link never comes.
    void count_bytes(Segment const& segment, NetworkBytes& bytes) const;
    /// Closes everything; what was sent still arrives.
    void close();

private:
    struct Loss {
        int rank;
        std::int64_t since;
    };

    Link& link(int rank);
    bool poll_now(std::int64_t now);
    bool move_on(Link& link, std::uint32_t events);
    bool keep_time(std::int64_t now);
    void check(std::int64_t now);
    void settle(Link& link);
    bool report_lost(std::int64_t now);

    Cluster const& cluster_;
    std::chrono::seconds const silence_;
    std::int64_t const check_every_;   ///< in nanoseconds
    Handler& handler_;
    Poller poller_;
    ReadAhead ahead_;
    std::vector<std::unique_ptr<Link>> links_;   ///< by rank; null: nothing was ever sent either way
    std::vector<Link*> used_;                    ///< the links that exist
    ConnectionSetup setup_;
    std::vector<Loss> losses_;               ///< broken; grows while one is reported; has room for each link
    std::map<int, std::string> sentences_;   ///< by rank: why its link is broken
    std::int64_t looked_ = 0, checked_ = 0;
    bool lively_ = false;       ///< the last poll found something
    bool unfinished_ = false;   ///< the last poll threw, or had no memory for something: links may owe something
    bool inside_ = false, leaving_ = false;
};

}   // namespace tutti::p2p::tcp
