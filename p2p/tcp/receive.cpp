// SPDX-License-Identifier: BSD-3-Clause
// Receiving from ranks of other nodes, and the failure of operations when a rank is lost. Functions called by the link
// allocate all memory before they change anything, so that they can be called again after std::bad_alloc.
#include "p2p/tcp/transport.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tutti::p2p {

using tcp::Frame;
using tcp::FrameKind;

namespace {

Key key_of(Frame const& frame) { return {frame.context, frame.source, frame.tag}; }

}   // namespace

TcpTransport::TcpTransport(Matching& matching, std::vector<tcp::Socket> listeners)
    : matching_(matching), local_ranks_(matching.process().cluster.local_size()),
      eager_limit_(std::min<std::size_t>(matching.process().variables.eager_network, Frame::max_eager)),
      peers_(static_cast<std::size_t>(matching.process().size())),
      network_(matching.process().cluster, matching.process().rank(), std::move(listeners),
               matching.process().variables.network, std::chrono::seconds(matching.process().variables.silence),
               *this) {
    matching.process().waiter.set_poll_descriptor(network_.descriptor());
}

bool TcpTransport::reaches(int peer) const {
    return peer >= local_ranks_ && !matching_.process().cluster.is_local(peer - local_ranks_);
}

TcpTransport::~TcpTransport() = default;

TcpTransport::Peer& TcpTransport::peer(int rank) {
    auto& slot = peers_[static_cast<std::size_t>(rank)];
    if (!slot) slot = std::make_unique<Peer>();
    return *slot;
}

char const* TcpTransport::frame_arrived(int rank, Frame const& frame) {
    Peer& from = peer(rank);
    if (!from.credit.update_returned(frame.matched)) return "credit for more bytes than were sent";
    switch (frame.kind) {
    case FrameKind::eager:
    case FrameKind::eager_sync: return receive_message(rank, from, frame);
    case FrameKind::offer: return receive_offer(rank, frame);
    case FrameKind::data: return receive_data(rank, from, frame);
    case FrameKind::piggyback: begin_piggyback(from, frame); break;
    case FrameKind::grant: return granted(rank, frame);
    case FrameKind::done: return done(rank, frame);
    case FrameKind::cancel: receive_cancel(rank, frame); break;
    case FrameKind::cancelled:
    case FrameKind::not_cancelled: return receive_cancel_answer(rank, frame);
    case FrameKind::credit:
    case FrameKind::shutdown: break;
    }
    return nullptr;
}

char const* TcpTransport::receive_message(int rank, Peer& from, Frame const& frame) {
    if (!from.credit.allows(frame.length)) return "more messages than its credit permits";
    bool const sync = frame.kind == FrameKind::eager_sync;
    network_.reserve(rank, 1);
    Receive* const op = matching_.match(key_of(frame), frame.length, frame.digest);
    if (op) op->piggyback = std::move(from.piggyback);
    else
        from.unexpected =
            make_unexpected(rank, frame, sync ? Unexpected::Kind::eager_sync : Unexpected::Kind::eager, frame.length);
    from.receive = op;
    from.frame = frame;
    from.at = 0;
    from.end = frame.length;
    from.credit.received(frame.length);
    if (op) matched(rank, frame.length);
    return nullptr;
}

char const* TcpTransport::receive_offer(int rank, Frame const& frame) {
    network_.reserve(rank, 1);
    receives_.reserve();
    matching_.reserve(key_of(frame));
    if (Receive* op = matching_.match(key_of(frame), frame.length, frame.digest)) {
        op->piggyback = std::move(peer(rank).piggyback);
        start_rendezvous(*op, rank, frame.id, frame.length);
    } else {
        matching_.add(*make_unexpected(rank, frame, Unexpected::Kind::offered, 0));
    }
    return nullptr;
}

void TcpTransport::begin_piggyback(Peer& from, Frame const& frame) {
    from.piggyback = std::make_shared<std::vector<std::byte>>(frame.length);
    from.frame = frame;
    from.at = 0;
    from.end = frame.length;
}

char const* TcpTransport::receive_data(int rank, Peer& from, Frame const& frame) {
    Receive* const op = receives_.find(frame.id, rank);
    if (!op) return "data for an unknown receive";
    if (frame.length > op->status.bytes - op->arrived_bytes) return "more data than was requested";
    from.frame = frame;
    from.receive = op;
    from.at = op->arrived_bytes;
    from.end = op->arrived_bytes + frame.length;
    return nullptr;
}

Unexpected* TcpTransport::make_unexpected(int rank, Frame const& frame, Unexpected::Kind kind, std::size_t room) {
    Unexpected* m = Unexpected::create(matching_.process().frames, room);
    m->key = key_of(frame);
    m->peer = local_ranks_ + rank;
    m->number = frame.number;
    m->bytes = frame.length;
    m->digest = frame.digest;
    m->kind = kind;
    m->send = frame.id;
    m->piggyback = std::move(peer(rank).piggyback);
    return m;
}

std::span<std::byte> TcpTransport::payload_buffer(int rank) {
    Peer& from = peer(rank);
    if (from.frame.kind == FrameKind::piggyback) return {from.piggyback->data() + from.at, from.end - from.at};
    if (from.unexpected) return {from.unexpected->content() + from.at, from.end - from.at};
    Receive const& op = *from.receive;
    if (!op.data.dense() || from.at >= op.status.bytes) return {};
    return {op.data.base + from.at, std::min(from.end, op.status.bytes) - from.at};
}

void TcpTransport::payload_arrived(int rank, std::span<std::byte const> piece) {
    Peer& from = peer(rank);
    if (std::span<std::byte> const there = payload_buffer(rank); piece.data() != there.data()) {
        if (from.unexpected || from.frame.kind == FrameKind::piggyback)
            std::memcpy(there.data(), piece.data(), piece.size());
        else if (std::size_t const wanted = from.receive->status.bytes; from.at < wanted)
            from.receive->data.unpack(from.at, piece.data(), std::min(piece.size(), wanted - from.at));
    }
    from.at += piece.size();
}

void TcpTransport::payload_complete(int rank) {
    Peer& from = peer(rank);
    if (from.frame.kind == FrameKind::piggyback) return;
    if (from.frame.kind != FrameKind::data) return message_complete(rank, from);
    Receive& op = *std::exchange(from.receive, nullptr);
    op.arrived_bytes = from.at;
    if (op.arrived_bytes < op.status.bytes) return;
    receives_.remove(from.frame.id);
    matching_.finish(op);
}

void TcpTransport::message_complete(int rank, Peer& from) {
    if (from.unexpected) {
        reserve(*from.unexpected);
        matching_.reserve(from.unexpected->key);
    } else {
        network_.reserve(rank, 1);
    }
    if (Receive* const op = std::exchange(from.receive, nullptr)) {
        if (from.frame.kind == FrameKind::eager_sync) send(rank, {.kind = FrameKind::done, .id = from.frame.id});
        return matching_.finish(*op);
    }
    Unexpected* m = std::exchange(from.unexpected, nullptr);
    // A receive may have been posted since the first bytes arrived.
    Receive* const op = matching_.match(m->key, m->bytes, m->digest);
    if (!op) return matching_.add(*m);
    op->piggyback = std::move(m->piggyback);
    receive_unexpected(*op, *m);
    Unexpected::destroy(m);
}

/// At most two frames answer a message, and its receive needs an identifier.
void TcpTransport::reserve(Unexpected const& message) {
    network_.reserve(message.peer - local_ranks_, 2);
    receives_.reserve();
}

void TcpTransport::receive_unexpected(Receive& op, Unexpected& m) {
    int const rank = m.peer - local_ranks_;
    matching_.match(op, m.key, m.bytes, m.digest);
    if (m.kind == Unexpected::Kind::offered) return start_rendezvous(op, rank, m.send, m.bytes);
    matched(rank, m.bytes);
    if (m.kind == Unexpected::Kind::eager_sync) send(rank, {.kind = FrameKind::done, .id = m.send});
    matching_.deliver(op, m.content());
}

void TcpTransport::start_rendezvous(Receive& op, int rank, std::uint64_t send_id, std::size_t bytes) {
    op.peer = local_ranks_ + rank;
    if (std::string const* lost = matching_.loss_reason(op.peer)) return matching_.fail(op, *lost);
    std::size_t const wanted = std::min(bytes, op.data.bytes);
    if (wanted == 0) {
        send(rank, {.kind = FrameKind::done, .id = send_id});
        return matching_.finish(op);
    }
    op.arrived_bytes = 0;
    std::uint64_t const receive_id = receives_.add(op, rank);
    send(rank, {.kind = FrameKind::grant, .length = wanted, .id = send_id, .number = receive_id});
}

void TcpTransport::matched(int rank, std::size_t bytes) {
    Credit& credit = peer(rank).credit;
    credit.matched(bytes);
    if (credit.must_publish() && !matching_.loss_reason(local_ranks_ + rank)) send(rank, {.kind = FrameKind::credit});
}

void TcpTransport::receive_cancel(int rank, Frame const& frame) {
    network_.reserve(rank, 2);
    Unexpected* m = matching_.find(local_ranks_ + rank, frame.number);
    if (m) {
        matching_.remove(*m);
        if (m->kind != Unexpected::Kind::offered) matched(rank, m->bytes);
        Unexpected::destroy(m);
    }
    send(rank, {.kind = m ? FrameKind::cancelled : FrameKind::not_cancelled, .id = frame.id});
}

/// Removes everything from the lists before the first operation fails, because its callback may begin other operations.
void TcpTransport::link_broken(int rank, std::string const& message) {
    Peer& p = peer(rank);
    std::vector<Send*> const sends = sends_.items_of(rank);
    std::vector<Receive*> receives = receives_.items_of(rank);
    if (p.receive && p.frame.kind != FrameKind::data) receives.push_back(p.receive);
    std::vector<Receive*> const waiting = matching_.mark_lost(local_ranks_ + rank, message);
    // No memory is allocated from here on.
    sends_.remove_all(rank);
    receives_.remove_all(rank);
    p.receive = nullptr;
    if (p.unexpected) Unexpected::destroy(std::exchange(p.unexpected, nullptr));
    p.granted = {};
    for (Send* op : sends) {
        op->id = 0;
        if (op->stage == SendStage::granted) --incomplete_grants_;
    }
    for (Send* op : sends) matching_.fail(*op, message);
    for (Receive* op : receives) matching_.fail(*op, message);
    for (Receive* op : waiting) matching_.fail(*op, message);
    matching_.notify_progress();
}

}   // namespace tutti::p2p
