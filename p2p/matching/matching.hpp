// SPDX-License-Identifier: BSD-3-Clause
// Where sends, receives and what comes meet: the receives that wait, the messages that wait, and what it means that one
// has found the other or has ended. The engine calls it for what the program asks, transports for what comes.
//
// Messages of services have queues of their own: the receives that always wait for them do not prevent the short ways
// of the program's messages, and do not fail when a peer is lost.
//
// Memory: `post`, `find`, `add`, `reserve` and `lose` take some. A call that throws std::bad_alloc has changed nothing
// and can be repeated. The others need none.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "p2p/matching/operation.hpp"
#include "p2p/matching/queues.hpp"
#include "runtime/process.hpp"

namespace tutti::p2p {

class Matching {
public:
    explicit Matching(Process& process) : process_(process), tracer_(process.tracer.get()) {}

    Process& process() const { return process_; }

    // --- Receives that wait ------------------------------------------------------------------------------------------
    void post(Receive& op) { posted(op.key).add(op); }
    void withdraw(Receive& op) { posted(op.key).remove(op); }
    /// True when whatever comes that this waiting receive takes goes to it.
    bool alone(Receive const& op) const { return !op.key.of_service() && posted_.alone(op); }
    /// A message with this key has its receive, which waits: out of the queue.
    void match_posted(Receive& op, Key const& message, std::size_t bytes, TypeDigest digest) {
        posted(op.key).remove(op);
        match(op, message, bytes, digest, true);
    }
    /// The oldest receive that takes a message with this key, which it then has (status, how much of it is wanted); out
    /// of the queue. Null: there is none yet.
    Receive* match(Key const& message, std::size_t bytes, TypeDigest digest) {
        Receive* const op = posted(message).take(message);
        if (op) match(*op, message, bytes, digest, true);
        return op;
    }
    /// The same for a receive that is in no queue. `receive_first`: it has waited in one.
    void match(Receive& op, Key const& message, std::size_t bytes, TypeDigest digest, bool receive_first = false) {
        if (tracer_) [[unlikely]]
            if (message.of_program())
                tracer_->received(message.context, message.source, message.tag, bytes, receive_first);
        op.sent = bytes;
        op.status.source = message.source;
        op.status.tag = message.tag;
        op.status.bytes = std::min(bytes, op.data.bytes);
        if (op.truncated()) op.status.error = ErrorClass::truncate;
        if (op.data.element && !digest.agrees(op.data.element->digest())) [[unlikely]]
            compare_types(op, digest);
    }

    // --- Messages that wait ------------------------------------------------------------------------------------------
    /// Takes the memory that the next call of add with this key needs.
    void reserve(Key const& message) { unexpected(message).reserve(); }
    void add(Unexpected& message) { unexpected(message.key).add(message); }
    Unexpected* find(Key const& receive) { return unexpected(receive).find(receive); }
    Unexpected* find(int peer, std::uint64_t number) const { return unexpected_.find(peer, number); }
    void remove(Unexpected& message) { unexpected(message.key).remove(message); }
    void look_through(std::function<bool(Unexpected const&)> const& look) const { unexpected_.look_through(look); }

    /// No receive waits, and no message, but for those of services.
    bool empty() const { return posted_.empty() && unexpected_.empty(); }

    // --- Ends --------------------------------------------------------------------------------------------------------
    /// All of the message is here: copies it out and ends the receive.
    void deliver(Receive& op, std::byte const* content) {
        op.data.scatter(0, content, op.status.bytes);
        finish(op);
    }
    void finish(Receive& op) {
        op.done = true;
        if (op.finished) op.finished(op);
    }
    void finish(Send& op) {
        op.done = true;
        if (op.finished) op.finished(op);
    }
    /// Nothing more is to be sent of it. It is done, unless the receiver was asked to forget it.
    void sent(Send& op) {
        op.stage = SendStage::sent;
        if (!op.cancelling) finish(op);
    }
    /// `sentence` says why, and outlives the operation.
    void fail(Receive& op, std::string const& sentence);
    void fail(Send& op, std::string const& sentence);
    /// Something ended, or came, that another thread of this rank may wait for, without a store that others see.
    void happened() { process_.waiter.wake_own_threads(); }

    // --- Peers that are lost -----------------------------------------------------------------------------------------
    /// Why nothing will ever come from a peer (−1: from some). Null: it is not lost.
    std::string const* loss(int peer) const {
        if (!any_loss_) [[likely]]
            return nullptr;
        return peer < 0 ? any_loss_ : loss_of(peer);
    }
    /// From now on that peer is lost; `sentence` outlives everything. Returns the receives that wait for it, or for
    /// any source, out of the queue: for the transport to fail when its own lists are in order.
    std::vector<Receive*> lose(int peer, std::string const& sentence);

private:
    static void compare_types(Receive& op, TypeDigest digest);
    std::string const* loss_of(int peer) const;
    Posted& posted(Key const& key) { return key.of_service() ? services_ : posted_; }
    UnexpectedList& unexpected(Key const& key) { return key.of_service() ? unserved_ : unexpected_; }

    Process& process_;
    Tracer* const tracer_;   ///< null: nothing is traced
    Posted posted_, services_;
    UnexpectedList unexpected_, unserved_;       ///< the second of each: of services
    std::map<int, std::string const*> losses_;   ///< by peer
    std::string const* any_loss_ = nullptr;
};

}   // namespace tutti::p2p
