// SPDX-License-Identifier: BSD-3-Clause
// Large messages copied by sender and receiver together (p2p/shm/halves.hpp). The receiver opens the copy and works
// from the front without waiting for anybody; the sender joins when it next looks into its rings. Each side uses the
// best way that it has to the other's memory. If the sender is still at its last chunk when they meet, the receiver
// goes on with other things and settles the copy when it is polled next.
#include <algorithm>

#include "p2p/shm/transport.hpp"

namespace tutti::p2p {
namespace {

/// Bytes of a chunk. Two chunks for what is just worth it; more of what is larger, so that a side that comes late finds
/// some left, and little is to be waited for when the two meet. Not too small for what a claim and, with CMA, a call of
/// the system cost.
std::size_t step_for(std::size_t bytes, bool direct) {
    std::size_t step = direct ? std::clamp<std::size_t>(bytes / 4, 16 << 10, 64 << 10)
                              : std::clamp<std::size_t>(bytes / 2, 32 << 10, 256 << 10);
    return (step + cache_line - 1) / cache_line * cache_line;
}

std::uint64_t address_of(void const* p) { return reinterpret_cast<std::uint64_t>(p); }

}   // namespace

bool ShmTransport::may_share(Receive const& op, Peer const& from, Offer const& offer, std::size_t wanted) {
    // Ranks that share cores gain nothing: whoever helps takes the time from somebody else.
    return wanted >= share_from_ && offer.address != 0 && !offer.layout && op.data.dense() && !from.sharing() &&
           process_.single_copy.way(op.data.base, wanted) != AccessPath::staged;
}

void ShmTransport::share(Receive& op, int peer, Offer const& offer, std::size_t wanted) {
    Peer& from = at(peer);
    if (!from.shared) from.shared = std::make_unique<Shared>();
    Shared& s = *from.shared;
    bool direct = process_.single_copy.reaches(static_cast<unsigned>(peer), offer.address, wanted);
    s.op = &op;
    s.offer = offer;
    s.chunks = {address_of(op.data.base), wanted, step_for(wanted, direct)};
    s.trouble = Shared::none;
    s.front.open(from.in.halves(), s.chunks.count());
    op.peer = peer;
    control(peer, {Kind::share,
                   s.front.copy(),
                   wanted,
                   {.id = offer.send, .address = s.chunks.to, .bytes = static_cast<std::uint32_t>(s.chunks.step)}});
    while (s.front.claim()) {
        if (!copy_front(s, peer)) break;
        s.front.took();
    }
    if (s.trouble != Shared::none) s.front.seal();
    settle(from);
    mark_busy(from);
}

bool ShmTransport::copy_front(Shared& s, int peer) try {
    auto const sender = static_cast<unsigned>(peer);
    std::size_t at = s.chunks.begin(s.front.next()), n = s.chunks.size(s.front.next());
    std::byte* to = s.op->data.base + at;
    if (process_.single_copy.read(sender, s.offer.address + at, to, n, 2 * s.chunks.bytes)) return true;
    s.trouble = Shared::refused;
    return false;
} catch (Error const& error) {   // as in pull
    s.op->status.error = error.error_class;
    s.trouble = Shared::fault;
    return false;
}

bool ShmTransport::settle(Peer& from) {
    if (!from.sharing() || !from.shared->front.settled()) return false;
    Shared& s = *from.shared;
    Receive& op = *s.op;
    if (s.trouble == Shared::none && s.front.incomplete()) copy_front(s, op.peer);
    s.op = nullptr;
    if (s.trouble == Shared::refused) {
        grant(op, op.peer, s.offer, s.chunks.bytes);   // from the start: what was copied is copied again
    } else {
        control(op.peer, {Kind::done, 0, 0, {.id = s.offer.send}});
        matching_.finish(op);
    }
    return true;
}

void ShmTransport::join(int peer, Peer& from, Cell const& cell) {
    auto const receiver = static_cast<unsigned>(peer);
    Remote remote = cell.remote();
    Send const& op = *reinterpret_cast<Send const*>(remote.id);
    Chunks chunks{remote.address, cell.length, remote.bytes};
    Back back(from.out.halves(), static_cast<std::uint32_t>(cell.context), chunks.count());
    from.in.advance();
    while (back.claim()) {
        std::size_t at = chunks.begin(back.next()), n = chunks.size(back.next());
        if (!write_chunk(receiver, chunks.to + at, op.data.base + at, n, 2 * chunks.bytes)) return back.leave();
        back.took();
    }
}

bool ShmTransport::write_chunk(unsigned peer, std::uint64_t to, std::byte const* from, std::size_t n,
                               std::size_t working_set) try {
    return process_.single_copy.write(peer, to, from, n, working_set);
} catch (Error const&) {
    return false;   // one of the buffers is not where its owner said: the receiver finds that out and says so
}

}   // namespace tutti::p2p
