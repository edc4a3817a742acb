// SPDX-License-Identifier: BSD-3-Clause
// The point-to-point engine of one rank: begins sends and receives, and progresses those that did not complete
// immediately. It knows its transports only through p2p/matching/transport.hpp; the transports meet in the Matching.
// All functions are called by one thread at a time, with the rank's lock held.
//
// The engine never waits. Only blocking calls (p2p/p2p.hpp) wait, through the one wait, which polls this engine. A send
// to a busy rank therefore never delays an arriving message.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "p2p/check/checks.hpp"
#include "p2p/matching/matching.hpp"
#include "p2p/matching/transport.hpp"
#include "p2p/send_buffer.hpp"
#include "p2p/unstarted.hpp"

namespace tutti::p2p {

/// Creates all transports (p2p/engine.cpp) for `matching`. The transports take ownership of `listeners`, the sockets on
/// which other nodes connect (runtime/job/interfaces.hpp). `checks` is notified when a message of the program begins;
/// null: no checks. Also traces the messages if the process has a tracer.
std::vector<std::unique_ptr<Transport>> make_transports(Matching& matching, std::vector<int> const& listeners,
                                                        Checks* checks);

class Engine final : public LayerState, public Pollable {
public:
    /// `listeners`: as for make_transports.
    Engine(Process& process, std::vector<int> const& listeners);
    ~Engine() override;

    /// Begins a send. `op` must live until it is done.
    void begin(Send& op) { transport_of(op.peer).begin(op); }
    /// Returns true if the message was small enough to be sent immediately, without an operation. Otherwise the call
    /// has no effect.
    bool try_send_small(int peer, Key const& key, Data const& data) {
        return data.bytes <= Transport::small && data.dense() && transport_of(peer).try_send_small(peer, key, data);
    }
    /// Receives the next message of a peer without an operation, as Transport::try_receive_small does.
    Transport::SmallReceive try_receive_small(int peer, Key const& key, Data const& data, Status& status) {
        if (!matching_.empty()) return Transport::SmallReceive::needs_operation;
        int const polls = data.bytes < min_announced_bytes_ ? polls_for_small_ : 1;
        return transport_of(peer).try_receive_small(peer, key, data, status, polls);
    }
    /// Copies a buffered send into the buffer of its communicator. Polls while the buffer is full, because only polling
    /// frees space in it. Throws Error(buffer) if it is full and no poll makes progress.
    SendBuffer::Copy& copy_to_buffer(Send const& op);
    /// Begins a receive. `op` must live until it is done.
    void begin(Receive& op);
    /// Begins a receive of a message that `dequeue` returned. If it throws std::bad_alloc, the message is not consumed.
    void begin(Receive& op, Unexpected* message);

    /// Returns the oldest arrived message that matches a receive with this key, or null.
    Unexpected* find(Key const& key) { return matching_.find(key); }
    /// Calls `visit` with each unexpected message, in order of arrival, until it returns true.
    void visit_unexpected(std::function<bool(Unexpected const&)> const& visit) const {
        matching_.visit_unexpected(visit);
    }
    /// Removes a message that `find` returned from the matching queues. The caller then receives it by begin().
    Unexpected* dequeue(Unexpected* message) { return matching_.remove(*message), message; }

    /// Cancels a receive unless it is matched. A cancelled receive is done, with status.cancelled set.
    void cancel(Receive& op);
    /// Cancels a send, as Transport::cancel does.
    void cancel(Send& op) { transport_of(op.peer).cancel(op); }

    /// Ends an operation on the stack of a call that an exception from other progress is terminating. Returns once
    /// neither the engine nor a peer refers to the operation. A transfer that a peer has begun runs to its end, because
    /// the peer may be writing into the buffer.
    void abandon(Receive& op) noexcept;
    void abandon(Send& op) noexcept;

    bool poll() override { return polled_.size() == 1 ? polled_.front()->poll() : poll_all(); }
    /// Polls for messages of one peer (−1: of all), as Transport::poll_from does. Returns true if anything moved.
    bool poll_from(int peer) {
        bool const moved = peer < 0 ? poll() : transport_of(peer).poll_from(peer);
        if (moved) process().waiter.count_progress();
        return moved;
    }
    /// How many times in a row to poll without a pause (−1: all transports), as Transport::polls_in_a_row.
    int polls_in_a_row(int peer) const { return peer < 0 ? fewest_polls_ : transport_of(peer).polls_in_a_row(); }
    /// Returns why no message will ever arrive from a peer (−1: from some peer): its connection is lost. Null: not
    /// lost.
    std::string const* loss_reason(int peer) const { return matching_.loss_reason(peer); }
    /// The checks of --check; null: no checks.
    Checks* checks() const { return checks_.get(); }
    /// The ranks of MPI_COMM_WORLD to which this rank has a connection.
    std::vector<int> connected_ranks() const;
    /// Shuts down the connections to all peers, waits for their shutdown, and closes. No operation may begin
    /// afterwards.
    void shut_down(char const* call);

    Process& process() const { return matching_.process(); }
    int local_rank() const { return static_cast<int>(process().local_rank()); }
    /// Returns true if everything that can be sent now has been sent. Offers that the receiver has not matched do not
    /// count.
    bool idle() const;
    bool is_quiescent() const override { return requests == 0 && idle() && buffers.idle(); }
    /// Sets the hint to a persistent request that is not started, unless the blocked call has a hint with a code
    /// already.
    void describe(BlockedCall& blocked) const override;
    void count_bytes(Segment const& segment, NetworkBytes& bytes) const override {
        for (auto const& one : transports_) one->count_bytes(segment, bytes);
    }

    SendBuffers buffers;
    Datatype const* (*predefined_type)(unsigned number) = nullptr;   ///< by TypeDigest::number; null: unknown
    std::size_t requests = 0;                                        ///< number of incomplete requests
    UnstartedRequests unstarted;                                     ///< persistent requests

private:
    Transport& transport_of(int peer) const { return *transports_by_peer_[static_cast<std::size_t>(peer)]; }
    bool poll_all();
    static void describe_open_connections(void const* engine, BlockedCall& blocked);
    void announce(Receive& op);
    void notify_checks(Receive& op, bool already_arrived);
    bool withdraw(Receive& op) noexcept;
    void wait_until_done(bool const& done) noexcept;

    Matching matching_;
    std::unique_ptr<Checks> const checks_;
    std::vector<std::unique_ptr<Transport>> transports_;
    std::vector<Transport*> transports_by_peer_;   ///< by peer; null: there is no such peer
    std::vector<Transport*> polled_;               ///< those whose poll() can make progress
    int fewest_polls_;
    int const polls_for_small_;               ///< as many polls as a wait makes before it progresses everything
    std::size_t const min_announced_bytes_;   ///< smaller receives are not announced to the sender
};

/// Creates the engine of a process and attaches it to the process's waiter. `listeners`: as for Engine.
void start(Process& process, std::vector<int> const& listeners = {});
/// Returns the engine that `start` created.
inline Engine& engine(Process& process) { return static_cast<Engine&>(*process.p2p); }

}   // namespace tutti::p2p
