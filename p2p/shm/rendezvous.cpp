// SPDX-License-Identifier: BSD-3-Clause
// Rendezvous: messages that stay with the sender until a receive matches, transferred with one handshake and one copy
// by the single-copy methods. If the receiver can load from the sender's memory, it copies directly from the sender's
// layout to its own. If it cannot access the data, it grants the message, and the sender stores it directly into a
// dense receive buffer. Otherwise the data is sent in pieces through the ring. Also contains the cancellation of sends.
#include <algorithm>
#include <utility>

#include "p2p/shm/transport.hpp"
#include "runtime/datatype/layout.hpp"

namespace tutti::p2p {
namespace {

constexpr std::size_t bounce_bytes = 64 * 1024;   // stays in the second-level cache between the two copies

}   // namespace

void ShmTransport::start_rendezvous(Receive& op, int peer, Offer const& offer) {
    std::size_t wanted = std::min<std::size_t>(offer.bytes, op.data.bytes);
    if (may_share_copy(op, at(peer), offer, wanted)) return start_shared_copy(op, peer, offer, wanted);
    if (wanted == 0 || pull(op, peer, offer, wanted)) {
        send_done(peer, offer.send);
        return matching_.finish(op);
    }
    grant(op, peer, offer, wanted);
}

void ShmTransport::grant(Receive& op, int peer, Offer const& offer, std::size_t wanted) {
    op.peer = peer;
    bool reachable = op.data.dense() && process_.single_copy.direct(op.data.base, wanted);
    send_control(peer, {CellKind::grant,
                        false,
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
    OwnAttachments own;
    if (std::byte const* there = single_copy.local_address(from, offer.address, wanted, &own)) {
        op.data.unpack(0, there, wanted);
        return true;
    }
    bounce_.resize(bounce_bytes);
    for (std::size_t at = 0; at < wanted;) {
        std::size_t n = std::min(bounce_bytes, wanted - at);
        if (!single_copy.read(from, offer.address + at, bounce_.data(), n)) return false;
        op.data.unpack(at, bounce_.data(), n);
        at += n;
    }
    return true;
} catch (Error const& error) {
    // One of the two buffers is not at the address its owner gave. Only this rank reports it.
    op.status.error = error.error_class;
    return true;
}

bool ShmTransport::pull_layout(Receive& op, int peer, Offer const& offer, std::size_t wanted) {
    std::int64_t const count = offer.layout[0];
    RemoteType const type(offer.layout + 1);
    AddressRange const range = type.range(offer.address, count);
    OwnAttachments own;
    std::byte const* there =
        process_.single_copy.local_address(static_cast<unsigned>(peer), range.first, range.bytes, &own);
    if (!there) return false;
    TypedMemory const from = type.at(there, offer.address, count);
    if (op.data.dense()) pack_typed(from, 0, op.data.base, wanted);
    else copy_typed(TypedMemory::of(op.data.base, op.data.count, *op.data.type), from, 0, wanted);
    return true;
}

void ShmTransport::receive_grant(int peer, Peer& from, Cell const& cell) {
    CellDescriptor descriptor = cell.descriptor();
    Send& op = *reinterpret_cast<Send*>(descriptor.id);
    op.stage = SendStage::granted;
    op.receive = cell.context;
    op.wanted = cell.length;
    op.position = 0;
    from.in.advance();
    OwnAttachments own;
    if (std::byte* there =
            process_.single_copy.local_address(static_cast<unsigned>(peer), descriptor.address, op.wanted, &own)) {
        if (op.data.dense()) process_.copier.copy(there, op.data.base, op.wanted, 2 * op.wanted);
        else op.data.pack(0, there, op.wanted);
        send_done(peer, op.receive, true);
        return matching_.mark_sent(op);
    }
    from.granted.append(op);
    if (flush(from)) process_.waiter.wake_rank(static_cast<unsigned>(peer));
    mark_busy(from);
}

void ShmTransport::receive_piece(Peer& from, Cell const& cell) {
    Receive& op = *reinterpret_cast<Receive*>(cell.context);
    CellDescriptor descriptor = cell.descriptor();
    op.data.unpack(op.arrived_bytes, from.in.bytes(descriptor), descriptor.bytes);
    op.arrived_bytes += descriptor.bytes;
    from.in.advance(descriptor.end);
    if (op.arrived_bytes == op.status.bytes) matching_.finish(op);
}

void ShmTransport::cancel(Send& op) {
    if (op.cancelling || op.stage == SendStage::granted) return;
    if (op.stage == SendStage::queued) {
        at(op.peer).queued.remove(op);
        op.cancelled = true;
        matching_.finish(op);
        return matching_.notify_progress();
    }
    op.done = false;
    op.cancelling = true;
    send_control(op.peer, {CellKind::cancel, false, reinterpret_cast<std::uint64_t>(&op), 0, {.id = op.number}});
}

void ShmTransport::receive_cancel(int peer, Peer& from, Cell const& cell) {
    Unexpected* m = matching_.find(peer, cell.descriptor().id);
    std::uint64_t send = cell.context;
    from.in.advance();
    if (m) {
        matching_.remove(*m);
        if (m->kind != Unexpected::Kind::offered) from.in.matched(m->bytes);
        Unexpected::destroy(m);
    }
    send_control(peer, {CellKind::cancel_answer, m != nullptr, send});
}

void ShmTransport::receive_cancel_answer(Cell const& cell) {
    Send& op = *reinterpret_cast<Send*>(cell.context);
    op.cancelling = false;
    op.cancelled = cell.flag();
    // Too late to cancel: an eager message has been sent, an offered one continues.
    if (op.cancelled || op.stage == SendStage::sent) matching_.finish(op);
}

// Large messages copied by sender and receiver together (runtime/memory/shared_copy.hpp). The receiver begins the copy
// and works from the front without waiting. The sender joins from the back when it next polls its rings. Each side uses
// the fastest access method to the other's memory. If the sender is still copying its last piece when the two meet, the
// receiver continues with other work and completes the copy at a later poll.

namespace {

/// Returns the bytes per piece. A message of the default TUTTI_SHARE has two pieces (four if `direct`: by load and
/// store), larger ones have more, so that a side that joins late finds pieces left and the wait at the meeting point is
/// short. Pieces are not smaller, because each one costs a claim and, with CMA, a system call.
std::size_t piece_bytes_for(std::size_t bytes, bool direct) {
    return direct ? std::clamp<std::size_t>(bytes / 4, 16 << 10, 64 << 10)
                  : std::clamp<std::size_t>(bytes / 2, 32 << 10, 256 << 10);
}

std::uint64_t address_of(void const* p) { return reinterpret_cast<std::uint64_t>(p); }

}   // namespace

bool ShmTransport::may_share_copy(Receive const& op, Peer const& from, Offer const& offer, std::size_t wanted) {
    return wanted >= min_shared_bytes_ && offer.address != 0 && !offer.layout && op.data.dense() &&
           !from.has_shared_copy() && from.controls.empty() &&
           process_.single_copy.access_path(op.data.base, wanted) != AccessPath::staged;
}

void ShmTransport::start_shared_copy(Receive& op, int peer, Offer const& offer, std::size_t wanted) {
    Peer& from = at(peer);
    if (!from.shared) from.shared = std::make_unique<SharedReceive>();
    SharedReceive& s = *from.shared;
    bool direct =
        process_.single_copy.has_local_address(static_cast<unsigned>(peer), offer.address, wanted, &s.attachments);
    s.op = &op;
    s.offer = offer;
    s.pieces = {wanted, piece_bytes_for(wanted, direct), address_of(op.data.base)};
    s.failure = SharedReceive::none;
    op.peer = peer;
    send_control(
        peer,
        {CellKind::grant,
         true,
         ++s.number,
         wanted,
         {.id = offer.send, .address = address_of(op.data.base), .bytes = static_cast<std::uint32_t>(s.pieces.step)}});
    finish_shared_copy(from);
    mark_busy(from);
}

bool ShmTransport::read_piece(SharedReceive& s, std::uint32_t k) try {
    auto const sender = static_cast<unsigned>(s.op->peer);
    std::size_t const at = s.pieces.begin(k), n = s.pieces.size(k);
    if (process_.single_copy.read(sender, s.offer.address + at, s.op->data.base + at, n, 2 * s.pieces.bytes,
                                  &s.attachments))
        return true;
    s.failure = SharedReceive::denied;
    return false;
} catch (Error const& error) {   // as in pull
    s.op->status.error = error.error_class;
    s.failure = SharedReceive::bad_address;
    return false;
}

/// Copies what is unclaimed: at first all pieces, later one that the sender has given back.
bool ShmTransport::finish_shared_copy(Peer& from) {
    if (!from.has_shared_copy()) return false;
    SharedReceive& s = *from.shared;
    SharedCopy copy(from.in.shared_copy(), s.number, s.pieces.count);
    if (!copy.copy_from(CopyFrom::front, [&](std::uint32_t k) { return read_piece(s, k); }))
        copy.take_rest(CopyFrom::front);
    if (!copy.is_done()) return false;
    s.attachments.clear();
    Receive& op = *std::exchange(s.op, nullptr);
    if (s.failure == SharedReceive::denied) {
        grant(op, op.peer, s.offer, s.pieces.bytes);   // from the start: data that was copied is copied again
    } else {
        send_done(op.peer, s.offer.send);
        matching_.finish(op);
    }
    return true;
}

void ShmTransport::join_shared_copy(int peer, Peer& from, Cell const& cell) {
    CellDescriptor const descriptor = cell.descriptor();
    std::byte const* const data = reinterpret_cast<Send const*>(descriptor.id)->data.base;
    CopyPieces const pieces(cell.length, descriptor.bytes, descriptor.address);
    SharedCopy copy(from.out.shared_copy(), cell.context, pieces.count);
    from.in.advance();
    auto const write = [&](std::uint32_t k) {
        std::size_t const at = pieces.begin(k);
        return write_piece_to(static_cast<unsigned>(peer), descriptor.address + at, data + at, pieces.size(k),
                              2 * pieces.bytes);
    };
    if (!copy.copy_from(CopyFrom::back, write)) copy.release(CopyFrom::back);
}

bool ShmTransport::write_piece_to(unsigned peer, std::uint64_t to, std::byte const* from, std::size_t n,
                                  std::size_t working_set) try {
    return process_.single_copy.write(peer, to, from, n, working_set);
} catch (Error const&) {
    return false;   // a buffer is not at the address its owner gave: the receiver detects and reports that itself
}

}   // namespace tutti::p2p
