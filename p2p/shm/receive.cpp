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

constexpr int peeks_in_a_row = 8;            // loads per poll of try_receive_small
constexpr int max_ranks_without_bells = 8;   // with more ranks per node, bells show which rings to poll

std::atomic<std::uint8_t>* bells_of(Segment const& segment, unsigned rank) {
    return reinterpret_cast<std::atomic<std::uint8_t>*>(segment.bells(rank));
}

}   // namespace

ShmTransport::ShmTransport(Matching& matching)
    : matching_(matching), process_(matching.process()), me_(static_cast<int>(process_.local_rank())),
      layout_(process_.segment.layout().pair_bytes),
      eager_limit_(std::min(process_.variables.eager, layout_.largest_piece())),
      piece_(std::clamp<std::size_t>(process_.variables.staging, cache_line, layout_.capacity / 8)),
      min_shared_bytes_(std::max<std::size_t>(process_.variables.share, 1)),
      min_direct_bytes_(process_.variables.direct) {
    Segment& segment = process_.segment;
    unsigned ranks = segment.ranks(), me = static_cast<unsigned>(me_);
    bool bells = ranks > max_ranks_without_bells;
    peers_.reserve(ranks);
    busy_.reserve(ranks);   // so that mark_busy cannot fail
    for (unsigned r = 0; r < ranks; ++r) {
        auto* bell = bells ? bells_of(segment, r) + me : nullptr;
        peers_.emplace_back(Outbox(segment.pair(r, me), segment.ring_start(r, me), layout_, bell),
                            Inbox(segment.pair(me, r), segment.ring_start(me, r), layout_));
    }
    if (bells) {
        bells_ = bells_of(segment, me);
        consumed_counts_.resize((ranks + 7) / 8 * 8);
    }
}

Transport::SmallReceive ShmTransport::try_receive_small(int peer, Key const& key, Data const& data, Status& status,
                                                        int polls) {
    if (!busy_.empty()) return SmallReceive::needs_operation;
    Peer& from = at(peer);
    Cell const* cell = from.in.peek();
    auto const cell_arrived = [&] {
        for (int i = 0; !cell && i < peeks_in_a_row; ++i) cell = from.in.peek();
        return cell != nullptr;
    };
    if (!cell && !poll_briefly(polls, cell_arrived)) return SmallReceive::none;
    std::size_t const bytes = cell->bytes();
    if (!cell->is(CellKind::small, false) || bytes > data.bytes ||
        !key.matches({cell->context, cell->source, cell->tag}))
        return SmallReceive::needs_operation;
    if (data.element && !cell->digest().matches(data.element->digest())) [[unlikely]]
        return SmallReceive::needs_operation;
    status.source = cell->source;
    status.tag = cell->tag;
    status.bytes = bytes;
    if (bytes != 0) std::memcpy(data.base, cell->payload, bytes);
    from.in.matched(bytes);
    from.in.advance();
    if (bells_) consumed_counts_[static_cast<std::size_t>(peer)] = static_cast<std::uint8_t>(from.in.number());
    process_.waiter.wake_rank(static_cast<unsigned>(peer));   // as in drain
    return SmallReceive::received;
}

bool ShmTransport::poll_rings() {
    bool moved = false;
    if (!bells_) {
        int r = 0;
        for (Peer& from : peers_) {
            if (r != me_) moved |= poll_ring(r, from);
            ++r;
        }
        return moved;
    }
    for (std::size_t group = 0; group < consumed_counts_.size(); group += 8) {   // loads eight bells at a time
        std::uint64_t seen, rung = load_eight(bells_ + group);
        std::memcpy(&seen, consumed_counts_.data() + group, sizeof seen);
        if (rung == seen) continue;
        std::uint8_t differ[8];
        rung ^= seen;
        std::memcpy(differ, &rung, sizeof differ);
        for (std::size_t i = 0; i < 8; ++i)
            if (differ[i]) moved |= poll_ring(static_cast<int>(group + i), peers_[group + i]);
    }
    return moved;
}

void ShmTransport::fail_no_access(int peer) const {
    fail(ErrorClass::no_mem, "this rank cannot access the shared memory for messages from and to rank ",
         process_.segment.rank_state(static_cast<unsigned>(peer)).world_rank, ": ", std::strerror(errno),
         limit_behind(errno));
}

bool ShmTransport::drain(int peer, Peer& from, Cell const* cell) {
    if (!from.open && !open(peer, from)) fail_no_access(peer);   // the first cells are outside the pair's memory
    // Bounded, because a sender that never stops must not keep this rank from polling other peers.
    for (int budget = 64; cell && budget > 0; --budget) {
        handle(peer, from, *cell);
        cell = from.in.peek();
    }
    if (from.announced) reannounce(from);
    if (bells_) consumed_counts_[static_cast<std::size_t>(peer)] = static_cast<std::uint8_t>(from.in.number());
    process_.waiter.wake_rank(static_cast<unsigned>(peer));   // the peer may wait for the space that has become free
    return true;
}

void ShmTransport::handle(int peer, Peer& from, Cell const& cell) {
    switch (cell.kind()) {
    case CellKind::small: return receive_small(peer, from, cell);
    case CellKind::eager: return receive_eager(peer, from, cell);
    case CellKind::piggyback: return receive_piggyback(from, cell);
    case CellKind::more: return receive_more(peer, from, cell);
    case CellKind::offer: return receive_offer(peer, from, cell);
    case CellKind::piece: return receive_piece(from, cell);
    case CellKind::grant: return cell.flag() ? join_shared_copy(peer, from, cell) : receive_grant(peer, from, cell);
    case CellKind::stored: return receive_stored(from, cell);
    case CellKind::cancel: return receive_cancel(peer, from, cell);
    case CellKind::done: receive_done(cell); break;
    case CellKind::cancel_answer: receive_cancel_answer(cell); break;
    }
    from.in.advance();
}

void ShmTransport::receive_small(int peer, Peer& from, Cell const& cell) {
    bool const sync = cell.flag();
    std::uint64_t const sender = sync ? cell.send_id() : 0;
    if (Receive* op = match(from, cell)) {
        from.in.matched(cell.bytes());
        if (sync) send_done(peer, sender);
        matching_.deliver(*op, cell.payload);
    } else {
        auto const kind = sync ? Unexpected::Kind::eager_sync : Unexpected::Kind::eager;
        Unexpected* m = make_unexpected(peer, cell, kind, cell.bytes(), {.id = sender});
        std::memcpy(m->content(), cell.payload, m->bytes);
        matching_.add(*m);
    }
    from.in.advance();
}

void ShmTransport::receive_done(Cell const& cell) {
    if (cell.flag()) matching_.finish(*reinterpret_cast<Receive*>(cell.context));
    else matching_.mark_sent(*reinterpret_cast<Send*>(cell.context));
}

void ShmTransport::receive_eager(int peer, Peer& from, Cell const& cell) {
    bool const sync = cell.flag();
    CellDescriptor descriptor = cell.descriptor();
    std::size_t bytes = cell.bytes();
    from.eager_arrived = 0;
    if ((from.eager_receive = match(from, cell))) {
        from.in.matched(bytes);
        from.eager_receive->send = sync ? descriptor.id : 0;
    } else {
        from.eager_message = make_unexpected(peer, cell, sync ? Unexpected::Kind::eager_sync : Unexpected::Kind::eager,
                                             bytes, descriptor);
    }
    receive_more(peer, from, cell);
}

void ShmTransport::receive_piggyback(Peer& from, Cell const& cell) {
    CellDescriptor const descriptor = cell.descriptor();
    std::byte const* const bytes = from.in.bytes(descriptor);
    from.piggyback = std::make_shared<std::vector<std::byte>>(bytes, bytes + cell.length);
    from.in.advance(descriptor.end);
}

void ShmTransport::receive_more(int peer, Peer& from, Cell const& cell) {
    CellDescriptor descriptor = cell.descriptor();
    std::byte const* piece = from.in.bytes(descriptor);
    std::size_t at = from.eager_arrived,
                whole = from.eager_receive ? from.eager_receive->message_bytes : from.eager_message->bytes;
    from.eager_arrived += descriptor.bytes;
    if (!from.eager_receive) {
        std::memcpy(from.eager_message->content() + at, piece, descriptor.bytes);
    } else if (at < from.eager_receive->status.bytes) {
        from.eager_receive->data.unpack(at, piece,
                                        std::min<std::size_t>(descriptor.bytes, from.eager_receive->status.bytes - at));
    }
    if (from.eager_arrived < whole) return from.in.advance();
    from.in.advance(descriptor.end);
    eager_complete(peer, from);
}

void ShmTransport::eager_complete(int peer, Peer& from) {
    if (Receive* op = std::exchange(from.eager_receive, nullptr)) {
        if (op->send) send_done(peer, op->send);
        return matching_.finish(*op);
    }
    Unexpected* m = std::exchange(from.eager_message, nullptr);
    // A receive may have been posted since the first piece arrived.
    Receive* const op = matching_.match(m->key, m->bytes, m->digest);
    if (!op) return matching_.add(*m);
    if (op == from.announced) from.announced = nullptr;
    op->piggyback = std::move(m->piggyback);
    receive_unexpected(*op, *m);
    Unexpected::destroy(m);
}

void ShmTransport::receive_offer(int peer, Peer& from, Cell const& cell) {
    CellDescriptor descriptor = cell.descriptor();
    std::byte const* layout = descriptor.bytes ? from.in.bytes(descriptor) : nullptr;
    if (Receive* op = match(from, cell)) {
        start_rendezvous(
            *op, peer,
            {descriptor.id, descriptor.address, cell.bytes(), reinterpret_cast<std::int64_t const*>(layout)});
    } else {
        Unexpected* m = make_unexpected(peer, cell, Unexpected::Kind::offered, descriptor.bytes, descriptor);
        m->has_layout = layout;
        if (layout) std::memcpy(m->content(), layout, descriptor.bytes);
        matching_.add(*m);
    }
    layout ? from.in.advance(descriptor.end) : from.in.advance();
}

Unexpected* ShmTransport::make_unexpected(int peer, Cell const& cell, Unexpected::Kind kind, std::size_t room,
                                          CellDescriptor const& descriptor) {
    Unexpected* m = Unexpected::create(matching_.process().frames, room);
    m->key = {cell.context, cell.source, cell.tag};
    m->peer = peer;
    m->number = at(peer).in.number();
    m->bytes = cell.bytes();
    m->digest = cell.digest();
    m->kind = kind;
    m->send = descriptor.id;
    m->address = descriptor.address;
    m->piggyback = std::move(at(peer).piggyback);
    return m;
}

void ShmTransport::receive_unexpected(Receive& op, Unexpected& m) {
    matching_.match(op, m.key, m.bytes, m.digest);
    if (m.kind == Unexpected::Kind::offered)
        return start_rendezvous(
            op, m.peer,
            {m.send, m.address, m.bytes, m.has_layout ? reinterpret_cast<std::int64_t const*>(m.content()) : nullptr});
    at(m.peer).in.matched(m.bytes);
    if (m.kind == Unexpected::Kind::eager_sync) send_done(m.peer, m.send);
    matching_.deliver(op, m.content());
}

}   // namespace tutti::p2p
