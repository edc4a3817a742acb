// SPDX-License-Identifier: BSD-3-Clause
// Messages that stay with their sender until somebody wants them: one handshake and one copy by the single-copy
// methods. The receiver copies, straight from the sender's layout into its own where it can load from the sender. What
// it cannot reach the sender stores straight into a receiver without gaps, and the rest goes in pieces through the
// ring. And the taking back of sends.
#include <algorithm>

#include "p2p/shm/transport.hpp"
#include "runtime/datatype/layout/remote.hpp"

namespace tutti::p2p {
namespace {

constexpr std::size_t bounce_bytes = 64 * 1024;   // stays in the second-level cache between its two copies

}   // namespace

void ShmTransport::accept(Receive& op, int peer, Offer const& offer) {
    std::size_t wanted = std::min<std::size_t>(offer.bytes, op.data.bytes);
    if (may_share(op, at(peer), offer, wanted)) return share(op, peer, offer, wanted);
    if (wanted == 0 || pull(op, peer, offer, wanted)) {
        control(peer, {Kind::done, 0, 0, {.id = offer.send}});
        return matching_.finish(op);
    }
    grant(op, peer, offer, wanted);
}

void ShmTransport::grant(Receive& op, int peer, Offer const& offer, std::size_t wanted) {
    op.peer = peer;
    bool reachable = op.data.dense() && process_.single_copy.direct(op.data.base, wanted);
    control(peer, {Kind::grant,
                   reinterpret_cast<std::uint64_t>(&op),
                   wanted,
                   {.id = offer.send, .address = reachable ? reinterpret_cast<std::uint64_t>(op.data.base) : 0}});
}

bool ShmTransport::pull(Receive& op, int peer, Offer const& offer, std::size_t wanted) try {
    auto from = static_cast<unsigned>(peer);
    SingleCopy& single_copy = process_.single_copy;
    if (offer.layout) return pull_layout(op, peer, offer, wanted);
    if (offer.address == 0) return false;
    if (op.data.dense()) return single_copy.read(from, offer.address, op.data.base, wanted);
    if (std::byte const* there = single_copy.reach(from, offer.address, wanted)) {
        op.data.scatter(0, there, wanted);
        return true;
    }
    bounce_.resize(bounce_bytes);
    for (std::size_t at = 0; at < wanted;) {
        std::size_t n = std::min(bounce_bytes, wanted - at);
        if (!single_copy.read(from, offer.address + at, bounce_.data(), n)) return false;
        op.data.scatter(at, bounce_.data(), n);
        at += n;
    }
    return true;
} catch (Error const& error) {
    // One of the two buffers is not where its owner said; the other rank is not bothered with it.
    op.status.error = error.error_class;
    return true;
}

bool ShmTransport::pull_layout(Receive& op, int peer, Offer const& offer, std::size_t wanted) {
    std::int64_t const count = offer.layout[0];
    RemoteType const type(offer.layout + 1);
    AddressRange const range = type.range(offer.address, count);
    std::byte const* there = process_.single_copy.reach(static_cast<unsigned>(peer), range.first, range.bytes);
    if (!there) return false;
    TypedMemory const from = type.at(there, offer.address, count);
    if (op.data.dense()) pack_typed(from, 0, op.data.base, wanted);
    else copy_typed(TypedMemory::of(op.data.base, op.data.count, *op.data.type), from, 0, wanted);
    return true;
}

void ShmTransport::receive_grant(int peer, Peer& from, Cell const& cell) {
    Remote remote = cell.remote();
    Send& op = *reinterpret_cast<Send*>(remote.id);
    op.stage = SendStage::granted;
    op.receive = cell.context;
    op.wanted = cell.length;
    op.position = 0;
    from.in.advance();
    if (std::byte* there = process_.single_copy.reach(static_cast<unsigned>(peer), remote.address, op.wanted)) {
        if (op.data.dense()) process_.copier.copy(there, op.data.base, op.wanted, 2 * op.wanted);
        else op.data.gather(0, there, op.wanted);
        control(peer, {Kind::placed, op.receive, 0, {}});
        return matching_.sent(op);
    }
    from.granted.append(op);
    if (flush(from)) process_.waiter.wake_rank(static_cast<unsigned>(peer));
    mark_busy(from);
}

void ShmTransport::receive_piece(Peer& from, Cell const& cell) {
    Receive& op = *reinterpret_cast<Receive*>(cell.context);
    Remote remote = cell.remote();
    op.data.scatter(op.arrived, from.in.bytes(remote), remote.bytes);
    op.arrived += remote.bytes;
    from.in.advance(remote.end);
    if (op.arrived == op.status.bytes) matching_.finish(op);
}

void ShmTransport::cancel(Send& op) {
    if (op.cancelling || op.stage == SendStage::granted) return;
    if (op.stage == SendStage::queued) {
        at(op.peer).queued.remove(op);
        op.cancelled = true;
        matching_.finish(op);
        return matching_.happened();
    }
    op.done = false;
    op.cancelling = true;
    control(op.peer, {Kind::cancel, reinterpret_cast<std::uint64_t>(&op), 0, {.id = op.number}});
}

void ShmTransport::answer_cancel(int peer, Peer& from, Cell const& cell) {
    Unexpected* m = matching_.find(peer, cell.remote().id);
    std::uint64_t send = cell.context;
    from.in.advance();
    if (m) {
        matching_.remove(*m);
        if (m->what != Unexpected::What::offered) from.in.matched(m->bytes);
        Unexpected::discard(m);
    }
    control(peer, {m ? Kind::cancelled : Kind::not_cancelled, send, 0, {}});
}

void ShmTransport::cancel_answered(Cell const& cell, bool cancelled) {
    Send& op = *reinterpret_cast<Send*>(cell.context);
    op.cancelling = false;
    op.cancelled = cancelled;
    // Too late for an eager message means that it is sent; an offered one goes on.
    if (cancelled || op.stage == SendStage::sent) matching_.finish(op);
}

}   // namespace tutti::p2p
