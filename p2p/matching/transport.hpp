// SPDX-License-Identifier: BSD-3-Clause
// The interface between the engine and a transport: a transport carries messages between this rank and the peers that
// it reaches. A new transport needs this interface, a folder of its own and a line in p2p/engine.cpp, nothing else.
//
// A transport works with the Matching (p2p/matching/matching.hpp):
//
//  * Sending: `begin` starts a send; the transport passes the data, or an offer of it, to the receiver. Small messages
//    are sent and received without an operation if nothing is queued before them (try_send_small, try_receive_small).
//  * Arrival: the transport asks the Matching for the receive that matches and fills its buffer, or stores the message
//    as an Unexpected. The engine passes that to `receive_unexpected` once a receive matches it.
//  * Completion: the transport calls `mark_sent` and `finish` of the Matching, and `mark_lost` for a peer that is lost.
//
// Contract of every transport:
//
//  * Threads: one thread at a time calls it, with the rank's lock held.
//  * Waiting: it never waits. Operations that cannot proceed continue in `poll`, which is called repeatedly while the
//    rank is in MPI, and only then.
//  * Order: messages of a pair match in the order in which their sends began.
//  * Ownership: sends and receives belong to the caller and stay in place until they are done; until then a transport
//    may keep their addresses, and the fields that it sets in them are its own. An Unexpected belongs to the transport
//    until it is added to the Matching, then to the Matching; `receive_unexpected` does not destroy it, its caller
//    does.
//  * Errors: the error of a message is stored in its operation (`failure`, status.error). A call that throws (Error,
//    bad_alloc) has changed nothing that other calls can observe.
//  * Callbacks: the function that is called at the end of an operation may immediately begin and cancel others, so a
//    transport brings its lists into order before it completes an operation.
#pragma once

#include <cstddef>
#include <vector>

#include "p2p/matching/operation.hpp"
#include "runtime/wait/wait.hpp"

namespace tutti::p2p {

class Transport : public Pollable {
public:
    /// The largest message for try_send_small: together with its envelope it fits into one cache line.
    static constexpr std::size_t small = 32;

    /// Returns true if this transport reaches a peer, numbered as by Cluster::peer_id. Called once per peer at
    /// start-up; the first transport that reaches a peer is used for it.
    virtual bool reaches(int peer) const = 0;

    /// Sends a dense message of at most `small` bytes immediately, without an operation. Messages of mixed types are
    /// not sent this way. Returns false if that is not possible; the call then has no effect, and the caller uses
    /// `begin`.
    virtual bool try_send_small(int peer, Key const& key, Data const& data) = 0;
    /// Result of try_receive_small: no message, the wanted message (received), or something else.
    enum class SmallReceive { none, received, needs_operation };
    /// Polls up to `polls` times for the next message of this peer. Must only be called while the Matching is empty. If
    /// the message has at most `small` bytes, fits into the dense `data` and matches a receive with this key, it is
    /// received without an operation. `needs_operation`: the message needs an operation and `poll`.
    virtual SmallReceive try_receive_small(int, Key const&, Data const&, Status&, int) {
        return SmallReceive::needs_operation;
    }
    /// Begins a send. `op` must live until it is done.
    virtual void begin(Send& op) = 0;
    /// Tries to cancel a send, also an eager one that is already done. Such a send becomes not done until the receiver
    /// has answered, and then completes again. `cancelled` is the result.
    virtual void cancel(Send& op) = 0;
    /// Allocates the memory that receive_unexpected() needs for an unexpected message of this transport.
    virtual void reserve(Unexpected const&) {}
    /// Receives an unexpected message of this transport, which has been removed from the matching queues.
    virtual void receive_unexpected(Receive& op, Unexpected& message) = 0;
    /// Called when a receive from this peer only is posted. The transport may announce it to the peer, so that the
    /// message need not be stored anywhere else.
    virtual void announce(Receive&) noexcept {}
    /// Revokes the announcement. Returns false if the message is already being written into the buffer; the receive
    /// then completes with it.
    virtual bool withdraw(Receive&) noexcept { return true; }

    /// Returns true if messages arrive without an operation of this rank, so that `poll` and `poll_from` must be
    /// called.
    virtual bool needs_polling() const { return true; }
    /// Progresses everything. Returns true if anything moved.
    bool poll() override = 0;
    /// Called by a wait for one peer: polls for messages of this peer first, and may leave out other peers. Returns
    /// true if anything moved.
    virtual bool poll_from(int peer) = 0;
    /// How many times poll_from may be called in a row without a pause. If a poll is a load, several polls receive the
    /// pieces of a message in quick succession; if it is a system call, one poll is enough.
    virtual int polls_in_a_row() const { return 8; }

    /// Returns true if everything that can be sent now has been sent. Offers that are not matched do not count.
    virtual bool idle() const = 0;
    // Shutdown: start_shutdown() notifies all peers; the engine polls until is_shut_down() returns true, which means
    // that all peers have shut down or are lost; then it calls close(). No operation may begin after start_shutdown().
    virtual void start_shutdown() {}
    virtual bool is_shut_down() const { return true; }
    /// Adds the ranks of MPI_COMM_WORLD that have not shut down the connection.
    virtual void add_open_peers(std::vector<int>&) const {}
    virtual void close() {}
};

}   // namespace tutti::p2p
