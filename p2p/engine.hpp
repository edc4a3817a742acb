// SPDX-License-Identifier: BSD-3-Clause
// The point-to-point engine of one rank: begins sends and receives, matches them with what the rings bring, and moves
// on whatever could not be finished at once. Everything here is called by one thread at a time, inside the rank's lock.
//
// Nothing waits in here: a full ring leaves a send in its peer's line, and only blocking calls (p2p/p2p.hpp) wait,
// through the one wait, which polls this engine. So a send to a busy rank never keeps a message for us from arriving.
#pragma once

#include <deque>
#include <functional>
#include <vector>

#include "p2p/buffer.hpp"
#include "p2p/match.hpp"
#include "p2p/operation.hpp"
#include "p2p/ring.hpp"
#include "runtime/process.hpp"

namespace tutti::p2p {

class TcpTransport;

class Engine final : public Extension, public Pollable {
public:
    /// `listeners`: where other nodes call (runtime/job/listener.hpp); become the engine's.
    Engine(Process& process, std::vector<int> const& listeners);
    ~Engine() override;

    /// Begins a send; `op` must live until it is done.
    void begin(Send& op);
    /// True when a dense message of at most Cell::room bytes was sent at once. Nothing has happened otherwise.
    bool send_small(int peer, Key const& key, std::byte const* data, std::size_t bytes);
    /// A copy of a buffered send, in the buffer of its communicator. Messages that have arrived make room in it only
    /// when we look.
    SendBuffer::Copy& keep(Send const& op);
    /// Begins a receive; `op` must live until it is done.
    void begin(Receive& op);
    /// Begins a receive of a message that `claim` gave.
    void begin(Receive& op, Unexpected* message);

    /// The oldest message here that a receive with this key would get; null when there is none.
    Unexpected* find(Key const& key) { return unexpected_.find(key); }
    /// Takes a message that `find` gave out of matching; it waits for its own receive.
    Unexpected* claim(Unexpected* message) { return unexpected_.remove(*message), message; }

    /// Takes a receive back unless it is matched; then it is done, with status.cancelled.
    void cancel(Receive& op);
    /// Asks for a send back, also for one that was done because it left eagerly: it is undone until the answer comes,
    /// and then finished (once more), `cancelled` or not.
    void cancel(Send& op);

    /// For an operation on the stack of a call that ends early, by an exception of what else was moved on: returns once
    /// nobody knows of it any more. What a peer has begun goes on to its end, for it may be writing into the buffer.
    void abandon(Receive& op) noexcept;
    void abandon(Send& op) noexcept;

    bool poll() override {
        return poll_rings() | (busy_.empty() ? false : flush_busy()) | (tcp_ ? poll_tcp() : false);
    }
    /// Looks for what comes from one peer only (any_source: all).
    bool poll_from(int peer) {
        if (peer < 0) return poll();
        if (!is_here(peer)) [[unlikely]] return poll_tcp(peer);
        return (peer != me_ && drain(peer)) | (busy_.empty() ? false : flush_busy());
    }
    /// How often to look in a row without a pause (−1: everywhere): the pieces of a message through a ring follow each
    /// other closely, but a look at a socket is a call of the system.
    int looks(int peer) const { return tcp_ && !(peer >= 0 && is_here(peer)) ? 1 : 8; }
    /// Why nothing will ever come from a peer (−1: from some): its connection is lost. Null: it is not.
    std::string const* loss(int peer) const;
    /// Says goodbye to ranks of other nodes, waits for theirs, closes. Nothing may be begun after it.
    void leave(char const* call);

    Process& process() const { return process_; }
    int me() const { return me_; }
    /// True when everything that can leave this rank now has left it; offers wait for those who want them.
    bool idle() const { return busy_.empty() && (!tcp_ || tcp_idle()); }
    bool at_rest() const override { return requests == 0 && idle() && buffers.idle(); }

    SendBuffers buffers;
    std::size_t requests = 0;             ///< under way

private:
    friend class TcpTransport;

    /// A cell without bytes that waits for room in a ring.
    struct Control {
        Kind kind;
        std::uint64_t context, length;
        Remote remote;
    };
    struct Line {
        Send* first = nullptr;
        Send* last = nullptr;
        void append(Send& op) { (last ? last->next : first) = &op; last = &op; op.next = nullptr; }
        void prepend(Send& op) { op.next = first; first = &op; if (!last) last = &op; }
        void pop() { first = first->next; if (!first) last = nullptr; }
        void remove(Send& op);
    };
    struct Offer {
        std::uint64_t send, address, bytes;
        std::int64_t const* layout = nullptr;   ///< of what has gaps: the count, then as flatten() wrote it
    };
    /// A copy that a receive shares with its sender, from its beginning until it is settled.
    struct Shared {
        Receive* op = nullptr;   ///< null: none
        Front front;
        Offer offer;
        Chunks chunks;
        /// refused by the system; fault: a buffer is not where its owner said.
        enum Trouble : std::uint8_t { none, refused, fault } trouble = none;
    };
    struct Peer {
        Peer(Outbox const& outbox, Inbox const& inbox) : out(outbox), in(inbox) {}

        Outbox out;
        Inbox in;
        Line queued, granted;
        Shared shared;
        std::deque<Control> controls;
        bool busy = false;      ///< in busy_
        Receive* into = nullptr;          ///< the receive whose eager message is arriving in pieces,
        Unexpected* aside = nullptr;      ///< or the message, while it is unexpected
        std::size_t arrived = 0;          ///< bytes of it

        bool waits() const { return !controls.empty() || queued.first || granted.first || shared.op; }
    };

    /// Is it on this node, so that there are rings?
    bool is_here(int peer) const { return static_cast<std::size_t>(peer) < peers_.size(); }

    // engine.cpp
    bool poll_tcp();
    bool poll_tcp(int peer);
    bool tcp_idle() const;
    bool poll_rings();
    bool drain(int peer);
    void handle(int peer, Peer& from, Cell const& cell);
    void receive_small(int peer, Peer& from, Cell const& cell);
    void receive_eager(int peer, Peer& from, Cell const& cell, bool sync);
    void receive_more(int peer, Peer& from, Cell const& cell);
    void arrived(int peer, Peer& from);
    void receive_offer(int peer, Peer& from, Cell const& cell);
    Unexpected* set_aside(int peer, Cell const& cell, Unexpected::What what, std::size_t room, Remote const& remote);
    void take(Receive& op, Unexpected& message);
    void matched(Receive& op, Key const& key, std::size_t bytes);
    void deliver(Receive& op, Key const& key, std::byte const* content, std::size_t bytes);
    void finish(Receive& op);
    void outlive(bool const& done) noexcept;

    // send.cpp
    void begin_local(Send& op);
    /// Something ended, or came, without a ring: another thread of this rank may wait for it.
    void happened() { process_.waiter.wake_sleepers(); }
    bool write(Peer& to, Send& op);
    bool write_eager(Peer& to, Send& op, bool sync);
    bool write_offer(Peer& to, Send& op);
    static Cell& head(Peer& to, Send const& op);
    bool write_piece(Peer& to, Send& op);
    void control(int peer, Control const& control);
    bool flush(Peer& to);
    bool flush_busy();
    void mark_busy(Peer& to);
    void sent(Send& op);
    void finish(Send& op);

    // rendezvous.cpp
    void accept(Receive& op, int peer, Offer const& offer);
    bool pull(Receive& op, int peer, Offer const& offer, std::size_t wanted);
    bool pull_layout(Receive& op, int peer, Offer const& offer, std::size_t wanted);
    void receive_grant(int peer, Peer& from, Cell const& cell);
    void grant(Receive& op, int peer, Offer const& offer, std::size_t wanted);
    void receive_piece(Peer& from, Cell const& cell);
    void answer_cancel(int peer, Peer& from, Cell const& cell);
    void cancel_answered(Cell const& cell, bool cancelled);

    // shared_copy.cpp
    bool may_share(Receive const& op, Peer const& from, Offer const& offer, std::size_t wanted);
    void share(Receive& op, int peer, Offer const& offer, std::size_t wanted);
    bool copy_front(Shared& s, int peer);
    bool settle(Peer& from);
    void join(int peer, Peer& from, Cell const& cell);
    bool write_chunk(unsigned peer, std::uint64_t to, std::byte const* from, std::size_t n, std::size_t working_set);

    Process& process_;
    int const me_;
    RingLayout layout_;
    std::size_t eager_limit_, piece_, share_from_;
    std::vector<Peer> peers_;
    std::vector<Peer*> busy_;             ///< peers for which something waits for room
    std::atomic<std::uint8_t> const* bells_ = nullptr;   ///< one per sender; null: every ring is looked into
    std::vector<std::uint8_t> seen_;      ///< low bytes of our counts of cells, to compare with the bells
    Posted posted_;
    UnexpectedList unexpected_;
    std::uint64_t local_number_ = 0;      ///< counts sends to self, as cells do for others
    std::vector<std::byte> bounce_;
    std::unique_ptr<TcpTransport> tcp_;    ///< null: the job is on one node
};

/// Makes the engine of a process and attaches it to its wait. `listeners` as Engine has them.
void start(Process& process, std::vector<int> const& listeners = {});
/// The engine that `start` made.
inline Engine& engine(Process& process) { return static_cast<Engine&>(*process.p2p); }

}  // namespace tutti::p2p
