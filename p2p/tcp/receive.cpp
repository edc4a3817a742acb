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
    : matching_(matching), here_(matching.process().cluster.ranks_here()),
      eager_limit_(std::min<std::size_t>(matching.process().variables.eager_network, Frame::most_eager)),
      peers_(static_cast<std::size_t>(matching.process().size())),
      network_(matching.process().cluster, matching.process().rank(), std::move(listeners),
               matching.process().variables.network, std::chrono::seconds(matching.process().variables.silence),
               *this) {
    matching.process().waiter.watch(network_.descriptor());
}

bool TcpTransport::reaches(int peer) const {
    return peer >= here_ && !matching_.process().cluster.is_here(peer - here_);
}

TcpTransport::~TcpTransport() = default;

TcpTransport::Peer& TcpTransport::peer(int rank) {
    auto& slot = peers_[static_cast<std::size_t>(rank)];
    if (!slot) slot = std::make_unique<Peer>();
    return *slot;
}

char const* TcpTransport::arrived(int rank, Frame const& frame) {
    Peer& from = peer(rank);
    if (!from.credit.returned(frame.matched)) return "credit for more than was sent";
    switch (frame.kind) {
    case FrameKind::eager:
    case FrameKind::eager_sync: return receive_message(rank, from, frame);
    case FrameKind::offer: return receive_offer(rank, frame);
    case FrameKind::data: return receive_data(rank, from, frame);
    case FrameKind::note: begin_note(from, frame); break;
    case FrameKind::grant: return granted(rank, frame);
    case FrameKind::done: return done(rank, frame);
    case FrameKind::cancel: answer_cancel(rank, frame); break;
    case FrameKind::cancelled:
    case FrameKind::not_cancelled: return cancel_answered(rank, frame);
    case FrameKind::credit:
    case FrameKind::bye: break;
    }
    return nullptr;
}

char const* TcpTransport::receive_message(int rank, Peer& from, Frame const& frame) {
    if (!from.credit.allows(frame.length)) return "more messages than there was credit for";
    bool const sync = frame.kind == FrameKind::eager_sync;
    network_.reserve(rank, 1);
    Receive* const op = matching_.match(key_of(frame), frame.length, frame.digest);
    if (op) op->note = std::move(from.note);
    else from.aside = set_aside(rank, frame, sync ? Unexpected::What::here_sync : Unexpected::What::here, frame.length);
    from.into = op;
    from.frame = frame;
    from.at = 0;
    from.end = frame.length;
    from.credit.came(frame.length);
    if (op) matched(rank, frame.length);
    return nullptr;
}

char const* TcpTransport::receive_offer(int rank, Frame const& frame) {
    network_.reserve(rank, 1);
    receives_.reserve();
    matching_.reserve(key_of(frame));
    if (Receive* op = matching_.match(key_of(frame), frame.length, frame.digest)) {
        op->note = std::move(peer(rank).note);
        accept(*op, rank, frame.id, frame.length);
    } else {
        matching_.add(*set_aside(rank, frame, Unexpected::What::offered, 0));
    }
    return nullptr;
}

void TcpTransport::begin_note(Peer& from, Frame const& frame) {
    from.note = std::make_shared<std::vector<std::byte>>(frame.length);
    from.frame = frame;
    from.at = 0;
    from.end = frame.length;
}

char const* TcpTransport::receive_data(int rank, Peer& from, Frame const& frame) {
    Receive* const op = receives_.find(frame.id, rank);
    if (!op) return "data for a receive that is not there";
    if (frame.length > op->status.bytes - op->arrived) return "more data than was asked for";
    from.frame = frame;
    from.into = op;
    from.at = op->arrived;
    from.end = op->arrived + frame.length;
    return nullptr;
}

Unexpected* TcpTransport::set_aside(int rank, Frame const& frame, Unexpected::What what, std::size_t room) {
    Unexpected* m = Unexpected::make(matching_.process().frames, room);
    m->key = key_of(frame);
    m->peer = here_ + rank;
    m->number = frame.number;
    m->bytes = frame.length;
    m->digest = frame.digest;
    m->what = what;
    m->send = frame.id;
    m->note = std::move(peer(rank).note);
    return m;
}

std::span<std::byte> TcpTransport::room(int rank) {
    Peer& from = peer(rank);
    if (from.frame.kind == FrameKind::note) return {from.note->data() + from.at, from.end - from.at};
    if (from.aside) return {from.aside->content() + from.at, from.end - from.at};
    Receive const& op = *from.into;
    if (!op.data.dense() || from.at >= op.status.bytes) return {};
    return {op.data.base + from.at, std::min(from.end, op.status.bytes) - from.at};
}

void TcpTransport::payload(int rank, std::span<std::byte const> piece) {
    Peer& from = peer(rank);
    if (std::span<std::byte> const there = room(rank); piece.data() != there.data()) {
        if (from.aside || from.frame.kind == FrameKind::note) std::memcpy(there.data(), piece.data(), piece.size());
        else if (std::size_t const wanted = from.into->status.bytes; from.at < wanted)
            from.into->data.scatter(from.at, piece.data(), std::min(piece.size(), wanted - from.at));
    }
    from.at += piece.size();
}

void TcpTransport::complete(int rank) {
    Peer& from = peer(rank);
    if (from.frame.kind == FrameKind::note) return;
    if (from.frame.kind != FrameKind::data) return message_complete(rank, from);
    Receive& into = *std::exchange(from.into, nullptr);
    into.arrived = from.at;
    if (into.arrived < into.status.bytes) return;
    receives_.remove(from.frame.id);
    matching_.finish(into);
}

void TcpTransport::message_complete(int rank, Peer& from) {
    if (from.aside) {
        reserve(*from.aside);
        matching_.reserve(from.aside->key);
    } else {
        network_.reserve(rank, 1);
    }
    if (Receive* const into = std::exchange(from.into, nullptr)) {
        if (from.frame.kind == FrameKind::eager_sync) send(rank, {.kind = FrameKind::done, .id = from.frame.id});
        return matching_.finish(*into);
    }
    Unexpected* m = std::exchange(from.aside, nullptr);
    // A receive may have been posted since the first bytes arrived.
    Receive* const op = matching_.match(m->key, m->bytes, m->digest);
    if (!op) return matching_.add(*m);
    op->note = std::move(m->note);
    take(*op, *m);
    Unexpected::discard(m);
}

/// At most two frames answer a message, and its receive needs an identifier.
void TcpTransport::reserve(Unexpected const& message) {
    network_.reserve(message.peer - here_, 2);
    receives_.reserve();
}

void TcpTransport::take(Receive& op, Unexpected& m) {
    int const rank = m.peer - here_;
    matching_.match(op, m.key, m.bytes, m.digest);
    if (m.what == Unexpected::What::offered) return accept(op, rank, m.send, m.bytes);
    matched(rank, m.bytes);
    if (m.what == Unexpected::What::here_sync) send(rank, {.kind = FrameKind::done, .id = m.send});
    matching_.deliver(op, m.content());
}

void TcpTransport::accept(Receive& op, int rank, std::uint64_t send_id, std::size_t bytes) {
    op.peer = here_ + rank;
    if (std::string const* lost = matching_.loss(op.peer)) return matching_.fail(op, *lost);
    std::size_t const wanted = std::min(bytes, op.data.bytes);
    if (wanted == 0) {
        send(rank, {.kind = FrameKind::done, .id = send_id});
        return matching_.finish(op);
    }
    op.arrived = 0;
    std::uint64_t const name = receives_.add(op, rank);
    send(rank, {.kind = FrameKind::grant, .length = wanted, .id = send_id, .number = name});
}

void TcpTransport::matched(int rank, std::size_t bytes) {
    Credit& credit = peer(rank).credit;
    credit.matched(bytes);
    if (credit.news() && !matching_.loss(here_ + rank)) send(rank, {.kind = FrameKind::credit});
}

void TcpTransport::answer_cancel(int rank, Frame const& frame) {
    network_.reserve(rank, 2);
    Unexpected* m = matching_.find(here_ + rank, frame.number);
    if (m) {
        matching_.remove(*m);
        if (m->what != Unexpected::What::offered) matched(rank, m->bytes);
        Unexpected::discard(m);
    }
    send(rank, {.kind = m ? FrameKind::cancelled : FrameKind::not_cancelled, .id = frame.id});
}

/// Removes everything from the lists before the first operation fails, because its callback may begin other operations.
void TcpTransport::broken(int rank, std::string const& sentence) {
    Peer& p = peer(rank);
    std::vector<Send*> const sends = sends_.all_of(rank);
    std::vector<Receive*> receives = receives_.all_of(rank);
    if (p.into && p.frame.kind != FrameKind::data) receives.push_back(p.into);
    std::vector<Receive*> const waiting = matching_.lose(here_ + rank, sentence);
    // No memory is allocated from here on.
    sends_.remove_all(rank);
    receives_.remove_all(rank);
    p.into = nullptr;
    if (p.aside) Unexpected::discard(std::exchange(p.aside, nullptr));
    p.granted = {};
    for (Send* op : sends) {
        op->id = 0;
        if (op->stage == SendStage::granted) --streams_;
    }
    for (Send* op : sends) matching_.fail(*op, sentence);
    for (Receive* op : receives) matching_.fail(*op, sentence);
    for (Receive* op : waiting) matching_.fail(*op, sentence);
    matching_.happened();
}

}   // namespace tutti::p2p
