// SPDX-License-Identifier: BSD-3-Clause
// Messages between ranks of a node through shared memory. Small messages are sent in a cell of a ring, eager ones
// through the byte ring, and large ones stay with the sender until a receive matches (rendezvous.cpp). If a ring is
// full, the send is queued for its peer, and operations with other peers proceed.
#pragma once

#include <memory>
#include <vector>

#include "p2p/matching/matching.hpp"
#include "p2p/matching/transport.hpp"
#include "p2p/shm/ring.hpp"

namespace tutti::p2p {

class ShmTransport final : public Transport {
public:
    explicit ShmTransport(Matching& matching);

    bool reaches(int peer) const override { return peer != me_ && static_cast<std::size_t>(peer) < peers_.size(); }
    bool try_send_small(int peer, Key const& key, Data const& data) override;
    SmallReceive try_receive_small(int peer, Key const& key, Data const& data, Status& status, int polls) override;
    void begin(Send& op) override;
    void cancel(Send& op) override;
    void receive_unexpected(Receive& op, Unexpected& message) override;
    void announce(Receive& op) noexcept override;
    bool withdraw(Receive& op) noexcept override;

    bool poll() override {
        if (busy_.empty()) [[likely]]
            return poll_rings();
        return poll_rings() | flush_busy();
    }
    bool poll_from(int peer) override {
        if (busy_.empty()) [[likely]]
            return poll_ring(peer, at(peer));
        return poll_ring(peer, at(peer)) | flush_busy();
    }
    bool idle() const override { return busy_.empty(); }

private:
    /// A cell without bytes in the byte ring that waits for space in the ring.
    struct Control {
        CellKind kind;
        bool flag;
        std::uint64_t context, length = 0;
        CellDescriptor descriptor{};
    };
    /// First in, first out. Allocates no memory until something is queued: there is one for each peer.
    class ControlQueue {
    public:
        bool empty() const { return first_ == all_.size(); }
        Control const& front() const { return all_[first_]; }
        void push_back(Control const& one) { all_.push_back(one); }
        void pop_front() {
            if (++first_ < all_.size() && first_ < max_consumed) return;
            all_.erase(all_.begin(), all_.begin() + static_cast<std::ptrdiff_t>(first_));
            first_ = 0;
        }

    private:
        static constexpr std::size_t max_consumed = 64;   // bounds a queue that is never empty
        std::vector<Control> all_;
        std::size_t first_ = 0;
    };
    /// A queue of sends, linked by Send::next.
    struct SendQueue {
        Send* first = nullptr;
        Send* last = nullptr;
        void append(Send& op) {
            (last ? last->next : first) = &op;
            last = &op;
            op.next = nullptr;
        }
        void prepend(Send& op) {
            op.next = first;
            first = &op;
            if (!last) last = &op;
        }
        void pop() {
            first = first->next;
            if (!first) last = nullptr;
        }
        void remove(Send& op);
    };
    struct Offer {
        std::uint64_t send, address, bytes;
        std::int64_t const* layout = nullptr;   ///< data with gaps: the count, then the output of flatten(); else null
    };
    /// A copy that a receive shares with its sender, from its start until it is complete.
    struct SharedReceive {
        Receive* op = nullptr;      ///< null: none
        std::uint64_t number = 0;   ///< of the copy; counts those from this peer
        Offer offer;
        CopyPieces pieces;
        OwnAttachments attachments;   ///< to the sender's buffer
        /// denied: the system denied access; bad_address: a buffer is not at the address its owner sent.
        enum Failure : std::uint8_t { none, denied, bad_address } failure = none;
    };
    struct Peer {
        bool open = false;   ///< the pair's memory is accessible; set at its first use

        Peer(Outbox const& outbox, Inbox const& inbox) : out(outbox), in(inbox), announcement(inbox.posted_receive()) {}

        Outbox out;
        Inbox in;
        SendQueue queued, granted;               ///< sends that wait for space; sends that are being sent in pieces
        std::unique_ptr<SharedReceive> shared;   ///< created at the first shared copy
        ControlQueue controls;
        bool busy = false;                     ///< is in busy_
        Receive* eager_receive = nullptr;      ///< the receive of the eager message that arrives in pieces
        Unexpected* eager_message = nullptr;   ///< or that message, if it is unexpected
        std::size_t eager_arrived = 0;         ///< bytes of that message
        Piggyback piggyback;                   ///< piggyback of the next message
        PostedReceiveOwner announcement;
        Receive* announced = nullptr;           ///< posted; announced whenever the next cell has not arrived
        std::uint8_t announcement_misses = 0;   ///< polls in a row of the sender that found no announcement
        std::uint8_t skipped_waits = 0;         ///< number of messages for which it will poll only once

        bool has_pending_work() const {
            return !controls.empty() || queued.first || granted.first || has_shared_copy();
        }
        bool has_shared_copy() const { return shared && shared->op; }
    };

    /// Throws Error(no_mem) if the system denies this rank access to the pair's memory.
    Peer& at(int peer) {
        Peer& one = peers_[static_cast<std::size_t>(peer)];
        if (!one.open && !open(peer, one)) [[unlikely]]
            fail_no_access(peer);
        return one;
    }
    bool open(int peer, Peer& one) noexcept {
        return one.open = process_.segment.open_pairs(static_cast<unsigned>(me_), static_cast<unsigned>(peer));
    }
    [[noreturn]] void fail_no_access(int peer) const;

    // receive.cpp
    bool poll_rings();
    bool poll_ring(int peer, Peer& from) {
        Cell const* const cell = from.in.peek();
        return cell && drain(peer, from, cell);
    }
    bool drain(int peer, Peer& from, Cell const* cell);
    void handle(int peer, Peer& from, Cell const& cell);
    Receive* match(Peer& from, Cell const& cell) {
        Receive* const op = matching_.match({cell.context, cell.source, cell.tag}, cell.bytes(), cell.digest());
        if (op && op == from.announced) [[unlikely]]
            from.announced = nullptr;
        if (op && from.piggyback) [[unlikely]]
            op->piggyback = std::move(from.piggyback);
        return op;
    }
    void receive_small(int peer, Peer& from, Cell const& cell);
    void receive_eager(int peer, Peer& from, Cell const& cell);
    void receive_more(int peer, Peer& from, Cell const& cell);
    void eager_complete(int peer, Peer& from);
    void receive_offer(int peer, Peer& from, Cell const& cell);
    static void receive_piggyback(Peer& from, Cell const& cell);
    Unexpected* make_unexpected(int peer, Cell const& cell, Unexpected::Kind kind, std::size_t room,
                                CellDescriptor const& descriptor);

    // send.cpp
    bool write(Peer& to, Send& op);
    bool write_eager(Peer& to, Send& op, bool sync);
    bool write_offer(Peer& to, Send& op);
    static bool write_piggyback(Peer& to, Send& op);
    void record_send(int peer, bool is_user_message, std::uint64_t number) {
        if (!is_user_message) return;
        process_.rank_state().recent_sends.record(static_cast<unsigned>(peer), number, process_.call_site,
                                                  process_.call_function);
    }
    static Cell& fill_header(Peer& to, Send const& op);
    bool write_piece(Peer& to, Send& op);
    void send_control(int peer, Control const& control);
    /// Reports to `peer` that its send (or, if `is_receive`, its receive) is complete.
    void send_done(int peer, std::uint64_t op, bool is_receive = false) {
        send_control(peer, {CellKind::done, is_receive, op});
    }
    bool flush(Peer& to);
    bool flush_busy();
    void mark_busy(Peer& to);

    // send.cpp: direct stores into announced receives
    bool may_store_directly(Send const& op) const {
        return op.data.bytes >= min_direct_bytes_ && op.data.bytes < min_shared_bytes_ && op.data.dense();
    }
    bool store_directly(Peer& to, Send& op);
    bool store_claimed(PostedReceiveClaim& claim, Peer& to, Send& op);
    int polls_for_announcement(Peer& to, std::size_t bytes) const;
    void reannounce(Peer& from);
    void receive_stored(Peer& from, Cell const& cell);

    // rendezvous.cpp
    void start_rendezvous(Receive& op, int peer, Offer const& offer);
    bool pull(Receive& op, int peer, Offer const& offer, std::size_t wanted);
    bool pull_layout(Receive& op, int peer, Offer const& offer, std::size_t wanted);
    void receive_grant(int peer, Peer& from, Cell const& cell);
    void grant(Receive& op, int peer, Offer const& offer, std::size_t wanted);
    void receive_piece(Peer& from, Cell const& cell);
    void receive_cancel(int peer, Peer& from, Cell const& cell);
    void receive_done(Cell const& cell);
    void receive_cancel_answer(Cell const& cell);

    // rendezvous.cpp: copies shared by sender and receiver
    bool may_share_copy(Receive const& op, Peer const& from, Offer const& offer, std::size_t wanted);
    void start_shared_copy(Receive& op, int peer, Offer const& offer, std::size_t wanted);
    bool read_piece(SharedReceive& s, std::uint32_t k);
    bool finish_shared_copy(Peer& from);
    void join_shared_copy(int peer, Peer& from, Cell const& cell);
    bool write_piece_to(unsigned peer, std::uint64_t to, std::byte const* from, std::size_t n, std::size_t working_set);

    Matching& matching_;
    Process& process_;
    int const me_;
    RingLayout layout_;
    std::size_t eager_limit_, piece_, min_shared_bytes_, min_direct_bytes_;   ///< bytes; piece_: of a granted message
    std::vector<Peer> peers_;                                                 ///< includes this rank, without messages
    std::vector<Peer*> busy_;                            ///< peers with queued cells, sends or a shared copy
    std::atomic<std::uint8_t> const* bells_ = nullptr;   ///< one per sender; null: every ring is polled
    /// By sender: low byte of the number of cells consumed, compared with its bell.
    std::vector<std::uint8_t> consumed_counts_;
    std::vector<std::byte> bounce_;   ///< for pull() into a receive buffer with gaps
};

}   // namespace tutti::p2p
