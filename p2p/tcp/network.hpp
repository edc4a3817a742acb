// SPDX-License-Identifier: BSD-3-Clause
// All connections of a rank to ranks of other nodes: opened at first use, polled together, shut down from both sides.
// Called by one thread at a time; never waits.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "p2p/tcp/connect.hpp"
#include "p2p/tcp/link.hpp"
#include "runtime/memory/segment.hpp"

namespace tutti::p2p::tcp {

class Network {
public:
    /// Nanoseconds between the loss of a link and the failure of the operations that need it: the launcher often knows
    /// the cause better and may report it first.
    static constexpr std::int64_t grace = 500'000'000;
    /// Nanoseconds between polls while nothing arrives: a poll is a system call and takes much longer than polling the
    /// rings of this node, whose messages should not be delayed by it.
    static constexpr std::int64_t idle_poll_interval = 2'000;

    /// Takes ownership of `listeners`, on which connections are accepted; none: no rank connects. `network`:
    /// TUTTI_NETWORK, `silence`: TUTTI_SILENCE.
    Network(Cluster const& cluster, int me, std::vector<Socket> listeners, std::string network,
            std::chrono::seconds silence, Handler& handler);

    /// Allocates the memory that the next `frames` calls of send to this rank of another node need. Connects if
    /// there is no connection yet.
    void reserve(int rank, std::size_t frames);
    /// As Link::send. Connects if there is no connection yet.
    bool send(int rank, Frame const& frame, std::byte const* data = nullptr, void* sender = nullptr,
              std::unique_ptr<std::byte[]> owned = nullptr);
    /// As Link::remove_queued.
    bool remove_queued(int rank, void const* sender);
    /// Must be called when Handler::refill has new data. If there is not enough memory, the data is sent later.
    void flush(int rank);

    /// Progresses everything, at most once per `idle_poll_interval` while nothing moves. Returns true if anything
    /// moved. Throws std::bad_alloc if memory was exhausted and nothing else moved; another call then continues.
    bool poll();
    /// Reads from one rank first, and progresses everything if nothing has arrived from it.
    bool poll(int rank);
    /// As Poller::descriptor.
    int descriptor() const { return poller_.descriptor(); }
    /// Returns true if the system has taken everything to be sent.
    bool idle() const;

    /// Sends a shutdown frame on every link. Nothing may be sent afterwards.
    void start_shutdown();
    /// Returns true if each link has sent and received its shutdown frame, is lost, or is closed.
    bool is_shut_down() const;
    /// Adds the ranks whose links have not sent or not received it.
    void add_open_peers(std::vector<int>& ranks) const;
    /// Adds the bytes sent to and received from suspected ranks (Segment::suspected). For a broken link, one more byte
    /// counts as sent, so that the data sent over it never counts as arrived.
    void count_bytes(Segment const& segment, NetworkBytes& bytes) const;
    /// Closes all connections; data that has been sent still arrives.
    void close();

private:
    struct Loss {
        int rank;
        std::int64_t since;
    };

    Link& link(int rank);
    bool poll_now(std::int64_t now);
    bool progress_link(Link& link, std::uint32_t events);
    bool run_timers(std::int64_t now);
    void check(std::int64_t now);
    void record_loss(Link& link);
    bool report_losses(std::int64_t now);

    Cluster const& cluster_;
    std::chrono::seconds const silence_;
    std::int64_t const check_every_;   ///< nanoseconds
    Handler& handler_;
    Poller poller_;
    ReadAhead ahead_;
    std::vector<std::unique_ptr<Link>> links_;   ///< by rank; null: no frame was sent or received
    std::vector<Link*> used_;                    ///< all existing links
    ConnectionSetup setup_;
    std::vector<Loss> losses_;   ///< broken links; grows while one is reported; has capacity for each link
    std::map<int, std::string> loss_messages_;      ///< by rank: why the link is broken
    std::int64_t polled_at_ = 0, checked_at_ = 0;   ///< times of the last poll and of the last check()
    bool made_progress_ = false;                    ///< the last poll made progress or ran out of memory
    bool has_unprocessed_input_ = false;            ///< the last poll threw or ran out of memory: links may hold data
    bool is_polling_ = false, shutting_down_ = false;   ///< a poll is running; start_shutdown() was called
};

}   // namespace tutti::p2p::tcp
