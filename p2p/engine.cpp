// SPDX-License-Identifier: BSD-3-Clause
// The receiving half of the engine: looking into the rings, matching, delivering.
#include "p2p/engine.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "p2p/distant.hpp"

namespace tutti::p2p {
namespace {

constexpr int polled_directly = 8;   // with more ranks on a node, bells say which ring to look into

/// A rank sends itself nothing through rings, so the memory of that pair holds its row of bells.
std::atomic<std::uint8_t>* bells_of(Segment const& segment, unsigned rank) {
    return reinterpret_cast<std::atomic<std::uint8_t>*>(segment.pair(rank, rank));
}

}  // namespace

std::size_t transfer(Data const& to, Data const& from) {
    std::size_t n = std::min(to.bytes, from.bytes);
    if (from.dense()) to.scatter(0, from.base, n);
    else if (to.dense()) from.gather(0, to.base, n);
    else copy_typed(to.base, to.count, *to.type, from.base, from.count, *from.type);
    return n;
}

Unexpected* Unexpected::make(std::size_t room) { return new (::operator new(sizeof(Unexpected) + room)) Unexpected; }

void Unexpected::discard(Unexpected* message) {
    message->~Unexpected();
    ::operator delete(message);
}

void start(Process& process, std::vector<int> const& listeners) {
    process.p2p = std::make_unique<Engine>(process, listeners);
}

Engine::Engine(Process& process, std::vector<int> const& listeners)
    : process_(process), me_(static_cast<int>(process.place())), layout_(process.segment.header().pair_bytes),
      eager_limit_(std::min(process.variables.eager, layout_.largest_piece())),
      piece_(std::clamp<std::size_t>(process.variables.staging, cache_line, layout_.capacity / 8)),
      share_from_(std::max<std::size_t>(process.variables.share, 1)) {
    Segment& segment = process.segment;
    unsigned ranks = segment.ranks(), me = static_cast<unsigned>(me_);
    bool bells = ranks > polled_directly;
    peers_.reserve(ranks);
    busy_.reserve(ranks);   // so that marking a peer cannot fail
    for (unsigned r = 0; r < ranks; ++r) {
        auto* bell = bells ? bells_of(segment, r) + me : nullptr;
        peers_.emplace_back(Outbox(segment.pair(r, me), layout_, bell), Inbox(segment.pair(me, r), layout_));
    }
    if (bells) {
        bells_ = bells_of(segment, me);
        seen_.resize((ranks + 7) / 8 * 8);
    }
    std::vector<tcp::Socket> calls;
    for (int descriptor : listeners) calls.emplace_back(descriptor);
    if (!process.cluster.alone()) tcp_ = std::make_unique<TcpTransport>(*this, std::move(calls));
    process.waiter.attach(this);
}

Engine::~Engine() { process_.waiter.detach(this); }

bool Engine::poll_tcp() { return tcp_->poll(); }
bool Engine::poll_tcp(int peer) { return tcp_->poll_from(peer); }
bool Engine::tcp_idle() const { return tcp_->idle(); }
std::string const* Engine::loss(int peer) const { return tcp_ ? tcp_->loss(peer) : nullptr; }

void Engine::leave(char const* call) {
    if (!tcp_) return;
    tcp_->say_goodbye();
    process_.waiter.until([this] { return tcp_->parted(); }, {call});
    tcp_->close();
}

bool Engine::poll_rings() {
    bool moved = false;
    int ranks = static_cast<int>(peers_.size());
    if (!bells_) {
        for (int r = 0; r < ranks; ++r)
            if (r != me_) moved |= drain(r);
        return moved;
    }
    for (int group = 0; group < ranks; group += 8) {   // eight bells in one load
        std::uint64_t seen, rung = load_eight(bells_ + group);
        std::memcpy(&seen, seen_.data() + group, sizeof seen);
        if (rung == seen) continue;
        std::uint8_t differ[8];
        rung ^= seen;
        std::memcpy(differ, &rung, sizeof differ);
        for (int i = 0; i < 8; ++i)
            if (differ[i]) moved |= drain(group + i);
    }
    return moved;
}

bool Engine::drain(int peer) {
    Peer& from = peers_[static_cast<std::size_t>(peer)];
    Cell const* cell = from.in.peek();
    if (!cell) return false;
    // Not for ever: a sender that never stops must not keep us from looking at the others.
    for (int budget = 64; cell && budget > 0; --budget) {
        handle(peer, from, *cell);
        cell = from.in.peek();
    }
    if (bells_) seen_[static_cast<std::size_t>(peer)] = static_cast<std::uint8_t>(from.in.number());
    process_.waiter.wake_sleepers();   // the sender may wait for the room that we made
    return true;
}

void Engine::handle(int peer, Peer& from, Cell const& cell) {
    switch (cell.kind()) {
    case Kind::small: return receive_small(peer, from, cell);
    case Kind::eager: return receive_eager(peer, from, cell, false);
    case Kind::eager_sync: return receive_eager(peer, from, cell, true);
    case Kind::more: return receive_more(peer, from, cell);
    case Kind::offer: return receive_offer(peer, from, cell);
    case Kind::piece: return receive_piece(from, cell);
    case Kind::grant: return receive_grant(peer, from, cell);
    case Kind::share: return join(peer, from, cell);
    case Kind::placed: finish(*reinterpret_cast<Receive*>(cell.context)); break;
    case Kind::cancel: return answer_cancel(peer, from, cell);
    case Kind::done: sent(*reinterpret_cast<Send*>(cell.remote().id)); break;
    case Kind::cancelled: cancel_answered(cell, true); break;
    case Kind::not_cancelled: cancel_answered(cell, false); break;
    }
    from.in.advance();
}

void Engine::receive_small(int peer, Peer& from, Cell const& cell) {
    Key key{cell.context, cell.source, cell.tag};
    if (Receive* op = posted_.take(key)) {
        from.in.matched(cell.length);
        deliver(*op, key, cell.payload, cell.length);
    } else {
        Unexpected* m = set_aside(peer, cell, Unexpected::What::here, cell.length, {});
        std::memcpy(m->content(), cell.payload, cell.length);
        unexpected_.add(*m);
    }
    from.in.advance();
}

void Engine::receive_eager(int peer, Peer& from, Cell const& cell, bool sync) {
    Key key{cell.context, cell.source, cell.tag};
    Remote remote = cell.remote();
    std::size_t bytes = cell.length;
    from.arrived = 0;
    if ((from.into = posted_.take(key))) {
        from.in.matched(bytes);
        matched(*from.into, key, bytes);
        from.into->send = sync ? remote.id : 0;
    } else {
        from.aside = set_aside(peer, cell, sync ? Unexpected::What::here_sync : Unexpected::What::here, bytes, remote);
    }
    receive_more(peer, from, cell);
}

void Engine::receive_more(int peer, Peer& from, Cell const& cell) {
    Remote remote = cell.remote();
    std::byte const* piece = from.in.bytes(remote);
    std::size_t at = from.arrived, whole = from.into ? from.into->sent : from.aside->bytes;
    from.arrived += remote.bytes;
    if (!from.into) {
        std::memcpy(from.aside->content() + at, piece, remote.bytes);
    } else if (at < from.into->status.bytes) {
        from.into->data.scatter(at, piece, std::min<std::size_t>(remote.bytes, from.into->status.bytes - at));
    }
    if (from.arrived < whole) return from.in.advance();
    from.in.advance(remote.end);
    arrived(peer, from);
}

void Engine::arrived(int peer, Peer& from) {
    if (Receive* op = std::exchange(from.into, nullptr)) {
        if (op->send) control(peer, {Kind::done, 0, 0, {.id = op->send}});
        return finish(*op);
    }
    Unexpected* m = std::exchange(from.aside, nullptr);
    // A receive may have been posted since its first piece came.
    Receive* op = posted_.take(m->key);
    op ? take(*op, *m) : unexpected_.add(*m);
}

void Engine::receive_offer(int peer, Peer& from, Cell const& cell) {
    Key key{cell.context, cell.source, cell.tag};
    Remote remote = cell.remote();
    std::byte const* layout = remote.bytes ? from.in.bytes(remote) : nullptr;
    if (Receive* op = posted_.take(key)) {
        matched(*op, key, cell.length);
        accept(*op, peer, {remote.id, remote.address, cell.length, reinterpret_cast<std::int64_t const*>(layout)});
    } else {
        Unexpected* m = set_aside(peer, cell, Unexpected::What::offered, remote.bytes, remote);
        m->has_layout = layout;
        if (layout) std::memcpy(m->content(), layout, remote.bytes);
        unexpected_.add(*m);
    }
    layout ? from.in.advance(remote.end) : from.in.advance();
}

Unexpected* Engine::set_aside(int peer, Cell const& cell, Unexpected::What what, std::size_t room,
                              Remote const& remote) {
    Unexpected* m = Unexpected::make(room);
    m->key = {cell.context, cell.source, cell.tag};
    m->peer = peer;
    m->number = peers_[static_cast<std::size_t>(peer)].in.number();
    m->bytes = cell.length;
    m->what = what;
    m->send = remote.id;
    m->address = remote.address;
    return m;
}

void Engine::begin(Receive& op) {
    if (Unexpected* m = unexpected_.find(op.key)) [[unlikely]] {
        unexpected_.remove(*m);
        take(op, *m);
    } else {
        if (tcp_) [[unlikely]]
            if (std::string const* lost = loss(op.peer)) return tcp_->fail(op, *lost);
        posted_.add(op);
    }
}

void Engine::begin(Receive& op, Unexpected* message) { take(op, *message); }

void Engine::take(Receive& op, Unexpected& m) {
    Key key = m.key;
    if (!is_here(m.peer)) [[unlikely]] {
        tcp_->take(op, m);
        return Unexpected::discard(&m);
    }
    switch (m.what) {
    case Unexpected::What::here:
    case Unexpected::What::here_sync:
        if (m.peer != me_) peers_[static_cast<std::size_t>(m.peer)].in.matched(m.bytes);
        if (m.what == Unexpected::What::here_sync) control(m.peer, {Kind::done, 0, 0, {.id = m.send}});
        deliver(op, key, m.content(), m.bytes);
        break;
    case Unexpected::What::offered:
        matched(op, key, m.bytes);
        accept(op, m.peer, {m.send, m.address, m.bytes,
                            m.has_layout ? reinterpret_cast<std::int64_t const*>(m.content()) : nullptr});
        break;
    case Unexpected::What::local: {
        Send& from = *m.local;
        matched(op, key, m.bytes);
        transfer(op.data, from.data);
        sent(from);
        finish(op);
        happened();
        break;
    }
    }
    Unexpected::discard(&m);
}

void Engine::matched(Receive& op, Key const& key, std::size_t bytes) {
    op.sent = bytes;
    op.status.source = key.source;
    op.status.tag = key.tag;
    op.status.bytes = std::min(bytes, op.data.bytes);
    if (op.truncated()) op.status.error = ErrorClass::truncate;
}

void Engine::deliver(Receive& op, Key const& key, std::byte const* content, std::size_t bytes) {
    matched(op, key, bytes);
    op.data.scatter(0, content, op.status.bytes);
    finish(op);
}

void Engine::finish(Receive& op) {
    op.done = true;
    if (op.finished) op.finished(op);
}

void Engine::cancel(Receive& op) {
    if (!op.posted) return;
    posted_.remove(op);
    op.status.cancelled = true;
    finish(op);
    happened();
}

void Engine::abandon(Receive& op) noexcept {
    if (op.posted) return posted_.remove(op);
    outlive(op.done);
}

void Engine::abandon(Send& op) noexcept {
    try {
        cancel(op);
    } catch (...) {   // nobody could be asked: it goes on
    }
    outlive(op.done);
}

void Engine::outlive(bool const& done) noexcept {
    for (;;) {
        try {
            return process_.waiter.until([&] { return done; }, {"the rest of a call that has failed"});
        } catch (...) {   // of something else again
        }
    }
}

}  // namespace tutti::p2p
