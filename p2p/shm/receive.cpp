// SPDX-License-Identifier: BSD-3-Clause
// Receiving over shared memory: polling rings, matching arriving messages, delivering them.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "p2p/shm/transport.hpp"
#include "runtime/base/error.hpp"
#include "runtime/base/limits.hpp"
#include "runtime/wait/short_wait.hpp"

namespace tutti::p2p {
namespace {

constexpr int peeks_in_a_row = 8;    // loads per poll of take_small
constexpr int polled_directly = 8;   // with more ranks per node, bells show which rings to poll

std::atomic<std::uint8_t>* bells_of(Segment const& segment, unsigned rank) {
    return reinterpret_cast<std::atomic<std::uint8_t>*>(segment.bells(rank));
}

}   // namespace

ShmTransport::ShmTransport(Matching& matching)
    : matching_(matching), process_(matching.process()), me_(static_cast<int>(process_.place())),
      layout_(process_.segment.layout().pair_bytes),
      eager_limit_(std::min(process_.variables.eager, layout_.largest_piece())),
      piece_(std::clamp<std::size_t>(process_.variables.staging, cache_line, layout_.capacity / 8)),
      share_from_(std::max<std::size_t>(process_.variables.share, 1)), direct_from_(process_.variables.direct) {
    Segment& segment = process_.segment;
    unsigned ranks = segment.ranks(), me = static_cast<unsigned>(me_);
    bool bells = ranks > polled_directly;
    peers_.reserve(ranks);
    busy_.reserve(ranks);   // so that mark_busy cannot fail
    for (unsigned r = 0; r < ranks; ++r) {
        auto* bell = bells ? bells_of(segment, r) + me : nullptr;
        peers_.emplace_back(Outbox(segment.pair(r, me), segment.ring_start(r, me), layout_, bell),
                            Inbox(segment.pair(me, r), segment.ring_start(me, r), layout_));
    }
    if (bells) {
        bells_ = bells_of(segment, me);
        seen_.resize((ranks + 7) / 8 * 8);
    }
}

Transport::First ShmTransport::take_small(int peer, Key const& key, Data const& data, Status& status, int polls) {
    if (!busy_.empty()) return First::other;
    Peer& from = at(peer);
    Cell const* cell = from.in.peek();
    auto const some_come = [&] {
        for (int i = 0; !cell && i < peeks_in_a_row; ++i) cell = from.in.peek();
        return cell != nullptr;
    };
    if (!cell && !poll_briefly(polls, some_come)) return First::nothing;
    std::size_t const bytes = cell->bytes();
    if (cell->kind() != Kind::small || bytes > data.bytes || !key.takes({cell->context, cell->source, cell->tag}))
        return First::other;
    if (data.element && !cell->digest().agrees(data.element->digest())) [[unlikely]]
        return First::other;
    status.source = cell->source;
    status.tag = cell->tag;
    status.bytes = bytes;
    if (bytes != 0) std::memcpy(data.base, cell->payload, bytes);
    from.in.matched(bytes);
    from.in.advance();
    if (bells_) seen_[static_cast<std::size_t>(peer)] = static_cast<std::uint8_t>(from.in.number());
    process_.waiter.wake_rank(static_cast<unsigned>(peer));   // as in drain
    return First::taken;
}

bool ShmTransport::poll_rings() {
    bool moved = false;
    if (!bells_) {
        int r = 0;
        for (Peer& from : peers_) {
            if (r != me_) moved |= look(r, from);
            ++r;
        }
        return moved;
    }
    for (std::size_t group = 0; group < seen_.size(); group += 8) {   // loads eight bells at a time
        std::uint64_t seen, rung = load_eight(bells_ + group);
        std::memcpy(&seen, seen_.data() + group, sizeof seen);
        if (rung == seen) continue;
        std::uint8_t differ[8];
        rung ^= seen;
        std::memcpy(differ, &rung, sizeof differ);
        for (std::size_t i = 0; i < 8; ++i)
            if (differ[i]) moved |= look(static_cast<int>(group + i), peers_[group + i]);
    }
    return moved;
}

void ShmTransport::refuse(int peer) const {
    fail(ErrorClass::no_mem, "the system does not let this rank use the memory for messages from and to rank ",
         process_.segment.rank_state(static_cast<unsigned>(peer)).world_rank, ": ", std::strerror(errno),
         limit_behind(errno));
}

bool ShmTransport::drain(int peer, Peer& from, Cell const* cell) {
    if (!from.open && !open(peer, from)) refuse(peer);   // the first cells are outside the pair's memory
    // Bounded, because a sender that never stops must not keep this rank from polling other peers.
    for (int budget = 64; cell && budget > 0; --budget) {
        handle(peer, from, *cell);
        cell = from.in.peek();
    }
    if (from.announced) announce_again(from);
    if (bells_) seen_[static_cast<std::size_t>(peer)] = static_cast<std::uint8_t>(from.in.number());
    process_.waiter.wake_rank(static_cast<unsigned>(peer));   // the peer may wait for the space that has become free
    return true;
}

void ShmTransport::handle(int peer, Peer& from, Cell const& cell) {
    switch (cell.kind()) {
    case Kind::small:
    case Kind::small_sync: return receive_small(peer, from, cell);
    case Kind::eager: return receive_eager(peer, from, cell, false);
    case Kind::eager_sync: return receive_eager(peer, from, cell, true);
    case Kind::note: return receive_note(from, cell);
    case Kind::more: return receive_more(peer, from, cell);
    case Kind::offer: return receive_offer(peer, from, cell);
    case Kind::piece: return receive_piece(from, cell);
    case Kind::grant: return receive_grant(peer, from, cell);
    case Kind::share: return join(peer, from, cell);
    case Kind::stored: return receive_stored(from, cell);
    case Kind::placed: matching_.finish(*reinterpret_cast<Receive*>(cell.context)); break;
    case Kind::cancel: return answer_cancel(peer, from, cell);
    case Kind::done: matching_.sent(*reinterpret_cast<Send*>(cell.remote().id)); break;
    case Kind::cancelled: cancel_answered(cell, true); break;
    case Kind::not_cancelled: cancel_answered(cell, false); break;
    }
    from.in.advance();
}

void ShmTransport::receive_small(int peer, Peer& from, Cell const& cell) {
    bool const sync = cell.kind() == Kind::small_sync;
    std::uint64_t const sender = sync ? cell.sender() : 0;
    if (Receive* op = match(from, cell)) {
        from.in.matched(cell.bytes());
        if (sync) control(peer, {Kind::done, 0, 0, {.id = sender}});
        matching_.deliver(*op, cell.payload);
    } else {
        auto const what = sync ? Unexpected::What::here_sync : Unexpected::What::here;
        Unexpected* m = set_aside(peer, cell, what, cell.bytes(), {.id = sender});
        std::memcpy(m->content(), cell.payload, m->bytes);
        matching_.add(*m);
    }
    from.in.advance();
}

void ShmTransport::receive_eager(int peer, Peer& from, Cell const& cell, bool sync) {
    Remote remote = cell.remote();
    std::size_t bytes = cell.bytes();
    from.arrived = 0;
    if ((from.into = match(from, cell))) {
        from.in.matched(bytes);
        from.into->send = sync ? remote.id : 0;
    } else {
        from.aside = set_aside(peer, cell, sync ? Unexpected::What::here_sync : Unexpected::What::here, bytes, remote);
    }
    receive_more(peer, from, cell);
}

void ShmTransport::receive_note(Peer& from, Cell const& cell) {
    Remote const remote = cell.remote();
    std::byte const* const bytes = from.in.bytes(remote);
    from.note = std::make_shared<std::vector<std::byte>>(bytes, bytes + cell.length);
    from.in.advance(remote.end);
}

void ShmTransport::receive_more(int peer, Peer& from, Cell const& cell) {
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

void ShmTransport::arrived(int peer, Peer& from) {
    if (Receive* op = std::exchange(from.into, nullptr)) {
        if (op->send) control(peer, {Kind::done, 0, 0, {.id = op->send}});
        return matching_.finish(*op);
    }
    Unexpected* m = std::exchange(from.aside, nullptr);
    // A receive may have been posted since the first piece arrived.
    Receive* const op = matching_.match(m->key, m->bytes, m->digest);
    if (!op) return matching_.add(*m);
    if (op == from.announced) from.announced = nullptr;
    op->note = std::move(m->note);
    take(*op, *m);
    Unexpected::discard(m);
}

void ShmTransport::receive_offer(int peer, Peer& from, Cell const& cell) {
    Remote remote = cell.remote();
    std::byte const* layout = remote.bytes ? from.in.bytes(remote) : nullptr;
    if (Receive* op = match(from, cell)) {
        accept(*op, peer, {remote.id, remote.address, cell.bytes(), reinterpret_cast<std::int64_t const*>(layout)});
    } else {
        Unexpected* m = set_aside(peer, cell, Unexpected::What::offered, remote.bytes, remote);
        m->has_layout = layout;
        if (layout) std::memcpy(m->content(), layout, remote.bytes);
        matching_.add(*m);
    }
    layout ? from.in.advance(remote.end) : from.in.advance();
}

Unexpected* ShmTransport::set_aside(int peer, Cell const& cell, Unexpected::What what, std::size_t room,
                                    Remote const& remote) {
    Unexpected* m = Unexpected::make(matching_.process().frames, room);
    m->key = {cell.context, cell.source, cell.tag};
    m->peer = peer;
    m->number = at(peer).in.number();
    m->bytes = cell.bytes();
    m->digest = cell.digest();
    m->what = what;
    m->send = remote.id;
    m->address = remote.address;
    m->note = std::move(at(peer).note);
    return m;
}

void ShmTransport::take(Receive& op, Unexpected& m) {
    matching_.match(op, m.key, m.bytes, m.digest);
    if (m.what == Unexpected::What::offered)
        return accept(
            op, m.peer,
            {m.send, m.address, m.bytes, m.has_layout ? reinterpret_cast<std::int64_t const*>(m.content()) : nullptr});
    at(m.peer).in.matched(m.bytes);
    if (m.what == Unexpected::What::here_sync) control(m.peer, {Kind::done, 0, 0, {.id = m.send}});
    matching_.deliver(op, m.content());
}

}   // namespace tutti::p2p
