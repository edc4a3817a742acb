// SPDX-License-Identifier: BSD-3-Clause
// Matches sends and receives: holds the posted receives and the unexpected messages, and defines what happens when an
// operation is matched, completes or fails. The engine calls it for operations of the program, transports call it for
// arriving messages.
//
// Messages of services (service_context) have their own queues: the receives that are always posted for them must
// neither disable the fast paths for messages of the program nor fail when a peer is lost.
//
// Memory: `post`, `find`, `add`, `reserve` and `mark_lost` allocate. A call that throws std::bad_alloc has no effect
// and may be repeated. All other functions allocate nothing.
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

    // --- Posted receives ---------------------------------------------------------------------------------------------
    void post(Receive& op) { posted(op.key).add(op); }
    void withdraw(Receive& op) { posted(op.key).remove(op); }
    /// Returns true if every arriving message that matches this posted receive goes to it.
    bool is_exclusive(Receive const& op) const { return !op.key.is_service_message() && posted_.is_exclusive(op); }
    /// Matches this posted receive with a message and removes it from the queue.
    void match_posted(Receive& op, Key const& message, std::size_t bytes, TypeDigest digest) {
        posted(op.key).remove(op);
        match(op, message, bytes, digest, true);
    }
    /// Finds the oldest posted receive that matches a message with this key, matches it (sets its status and the number
    /// of bytes to receive) and removes it from the queue. Returns null if there is none.
    Receive* match(Key const& message, std::size_t bytes, TypeDigest digest) {
        Receive* const op = posted(message).dequeue_match(message);
        if (op) match(*op, message, bytes, digest, true);
        return op;
    }
    /// Matches a receive that is in no queue. `receive_first`: it was posted before the message arrived.
    void match(Receive& op, Key const& message, std::size_t bytes, TypeDigest digest, bool receive_first = false) {
        if (tracer_) [[unlikely]]
            if (message.is_user_message())
                tracer_->received(message.context, message.source, message.tag, bytes, receive_first);
        op.message_bytes = bytes;
        op.status.source = message.source;
        op.status.tag = message.tag;
        op.status.bytes = std::min(bytes, op.data.bytes);
        if (op.truncated()) op.status.error = ErrorClass::truncate;
        if (op.data.element && !digest.matches(op.data.element->digest())) [[unlikely]]
            compare_types(op, digest);
    }

    // --- Unexpected messages -----------------------------------------------------------------------------------------
    /// Allocates the memory that the next call of add with this key needs.
    void reserve(Key const& message) { unexpected(message).reserve(); }
    void add(Unexpected& message) { unexpected(message.key).add(message); }
    Unexpected* find(Key const& receive) { return unexpected(receive).find(receive); }
    /// As UnexpectedList::find. This and visit_unexpected do not find messages of services.
    Unexpected* find(int peer, std::uint64_t number) const { return unexpected_.find(peer, number); }
    void remove(Unexpected& message) { unexpected(message.key).remove(message); }
    void visit_unexpected(std::function<bool(Unexpected const&)> const& visit) const { unexpected_.visit(visit); }

    /// Returns true if no receive is posted and no message is unexpected, apart from those of services.
    bool empty() const { return posted_.empty() && unexpected_.empty(); }

    // --- Completion --------------------------------------------------------------------------------------------------
    /// Copies a message that has arrived completely to the receive buffer and completes the receive.
    void deliver(Receive& op, std::byte const* content) {
        op.data.unpack(0, content, op.status.bytes);
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
    /// Called when all data of the send has been sent. Completes it unless it is being cancelled.
    void mark_sent(Send& op) {
        op.stage = SendStage::sent;
        if (!op.cancelling) finish(op);
    }
    /// `message` is the error message; it must be valid until the operation has completed.
    void fail(Receive& op, std::string const& message);
    void fail(Send& op, std::string const& message);
    /// Must be called when an operation completed or a message arrived without a store that other ranks see: wakes the
    /// threads of this rank, which may wait for it.
    void notify_progress() { process_.waiter.wake_own_threads(); }

    // --- Lost peers --------------------------------------------------------------------------------------------------
    /// Returns why no message will ever arrive from a peer (−1: from some peer). Null: not lost.
    std::string const* loss_reason(int peer) const {
        if (!last_loss_) [[likely]]
            return nullptr;
        return peer < 0 ? last_loss_ : find_loss_reason(peer);
    }
    /// Marks a peer as lost; `message` is the error message and must stay valid as long as this object. Removes the
    /// posted receives from this peer, and from any source unless they belong to a service, from their queues and
    /// returns them; the transport fails them once its own lists are consistent.
    std::vector<Receive*> mark_lost(int peer, std::string const& message);

private:
    static void compare_types(Receive& op, TypeDigest digest);
    std::string const* find_loss_reason(int peer) const;
    PostedReceives& posted(Key const& key) { return key.is_service_message() ? posted_services_ : posted_; }
    UnexpectedList& unexpected(Key const& key) { return key.is_service_message() ? unexpected_services_ : unexpected_; }

    Process& process_;
    Tracer* const tracer_;   ///< null: not traced
    PostedReceives posted_, posted_services_;
    UnexpectedList unexpected_, unexpected_services_;   ///< posted_services_ and unexpected_services_: of services
    std::map<int, std::string const*> losses_;          ///< by peer
    std::string const* last_loss_ = nullptr;            ///< of the peer that was lost last; null: no peer is lost
};

}   // namespace tutti::p2p
