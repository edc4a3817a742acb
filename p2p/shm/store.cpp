// SPDX-License-Identifier: BSD-3-Clause
// Messages that their sender stores straight into a posted receive (p2p/shm/announced.hpp): one copy, and no answer.
// Between two cores 4 KiB take 0.08 µs so, 0.22 through the ring, and 0.15 when the receiver reads them from the sender
// and says `done`; 16 KiB take 0.15, 0.68 and 0.39.
#include <algorithm>
#include <new>
#include <optional>

#include "p2p/shm/transport.hpp"
#include "runtime/wait/short_wait.hpp"

namespace tutti::p2p {
namespace {

constexpr std::size_t worth_waiting = 4096;    // bytes; below, a second copy costs no more than another poll
constexpr std::size_t bytes_per_poll = 1024;   // copied once more in the time of a poll
constexpr unsigned most_not_announced = 6;

void copy(Copier const& copier, std::byte* to, std::byte const* from, std::size_t n) {
    if (n >= 4096) return copier.copy(to, from, n, 2 * n);
    for (std::size_t at = 0; at < n; at += 2048) copy_piece(to + at, from + at, std::min<std::size_t>(n - at, 2048));
}

}   // namespace

void ShmTransport::announce(Receive& op) noexcept try {
    Peer& from = peers_[static_cast<std::size_t>(op.peer)];
    if (!from.open && !open(op.peer, from)) return;   // the message comes another way, or the sentence does
    if (from.announced || !op.data.dense() || !matching_.alone(op)) return;
    if (!process_.single_copy.direct(op.data.base, op.data.bytes)) return;
    from.announced = &op;
    announce_again(from);
} catch (std::bad_alloc const&) {   // for a window on the others' memory; then the message comes another way
}

/// For the next cell, unless that is here already.
void ShmTransport::announce_again(Peer& from) {
    std::uint64_t const next = from.in.number();
    if (from.announcement.holds(next) || from.in.peek()) return;
    Receive const& op = *from.announced;
    from.announcement.open(next, op.key, reinterpret_cast<std::uint64_t>(op.data.base), op.data.bytes);
}

bool ShmTransport::withdraw(Receive& op) noexcept {
    Peer& from = at(op.peer);
    if (from.announced != &op) return true;
    if (!from.announcement.withdraw()) return false;
    from.announced = nullptr;
    return true;
}

void ShmTransport::receive_stored(Peer& from, Cell const& cell) {
    Receive& op = *from.announced;
    from.announced = nullptr;
    matching_.match_posted(op, {cell.context, cell.source, cell.tag}, cell.bytes(), cell.digest());
    from.in.advance();
    matching_.finish(op);
}

bool ShmTransport::store(Peer& to, Send& op) {
    if (to.queued.first || !to.out.has_cell()) return false;
    int const polls = polls_for_announcement(to, op.data.bytes);
    std::optional<Claim> claim;
    bool const announced = poll_briefly(polls, [&] {
        claim.emplace(to.out.announced());
        return claim->suits(to.out.number(), op.key, op.data.bytes);
    });
    if (announced) {
        to.not_announced = to.unpolled = 0;
        return store_into(*claim, to, op);
    }
    if (polls > 1) {
        to.not_announced = static_cast<std::uint8_t>(std::min<unsigned>(to.not_announced + 1u, most_not_announced));
        to.unpolled = static_cast<std::uint8_t>((1u << to.not_announced) - 1);
    }
    return false;
}

bool ShmTransport::store_into(Claim& claim, Peer& to, Send& op) {
    auto const receiver = static_cast<unsigned>(&to - peers_.data());
    std::uint64_t const address = claim.address();
    std::size_t const bytes = op.data.bytes;
    if (!process_.single_copy.reaches(receiver, address, bytes) || !claim.take()) return false;
    copy(process_.copier, process_.single_copy.reach(receiver, address, bytes), op.data.base, bytes);
    op.eager = false;   // it is matched: too late to cancel it
    op.number = to.out.publish(head(to, op), Kind::stored);
    matching_.sent(op);
    return true;
}

/// How often a sender polls for a receive that is about to be posted: as long as the copy takes that this saves, so
/// that it never loses more than that. It soon stops doing so where no receive is posted in that time.
int ShmTransport::polls_for_announcement(Peer& to, std::size_t bytes) const {
    if (bytes < worth_waiting || process_.waiter.shares_core()) return 1;
    if (to.unpolled == 0) return static_cast<int>(2 + bytes / bytes_per_poll);
    --to.unpolled;
    return 1;
}

}   // namespace tutti::p2p
