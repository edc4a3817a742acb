// SPDX-License-Identifier: BSD-3-Clause
// Sending over shared memory: cells and pieces written to rings, queues of operations that found no space, and direct
// stores into announced receives.
#include <algorithm>
#include <new>
#include <optional>

#include "p2p/shm/transport.hpp"
#include "runtime/datatype/layout.hpp"
#include "runtime/wait/short_wait.hpp"

namespace tutti::p2p {
namespace {

// 1 KiB of the ring: enough for any vector or subarray type, or a structure of them.
constexpr std::size_t max_layout_numbers = 128;

/// Bytes per piece of an eager message. The receiver copies one piece out while the sender copies the next one in.
std::size_t eager_piece_bytes(std::size_t bytes) { return bytes <= 8192 ? 2048 : 4096; }

}   // namespace

void ShmTransport::SendQueue::remove(Send& op) {
    Send* before = nullptr;
    for (Send* s = first; s != &op; s = s->next) before = s;
    (before ? before->next : first) = op.next;
    if (last == &op) last = before;
}

bool ShmTransport::try_send_small(int peer, Key const& key, Data const& data) {
    Peer& to = at(peer);
    std::size_t const bytes = data.bytes;
    TypeDigest const digest = data.element ? data.element->digest() : TypeDigest();
    if (digest.mixed() || to.queued.first || !to.out.has_cell() || !to.out.spend(bytes)) return false;
    Cell& cell = to.out.cell();
    cell.context = key.context;
    cell.length = Cell::message_length(bytes, digest);
    cell.source = key.source;
    cell.tag = key.tag;
    if (bytes != 0) std::memcpy(cell.payload, data.base, bytes);   // the address may be null if there is no data
    std::uint64_t const number = to.out.publish(cell, CellKind::small);
    record_send(peer, key.is_user_message(), number);
    process_.waiter.wake_rank(static_cast<unsigned>(peer));
    return true;
}

void ShmTransport::begin(Send& op) {
    int const peer = op.peer;   // after write() the operation may no longer exist
    Peer& to = at(peer);
    if (may_store_directly(op) && store_directly(to, op)) return process_.waiter.wake_rank(static_cast<unsigned>(peer));
    op.eager = op.data.bytes <= eager_limit_ && to.out.spend(op.data.bytes);
    bool const is_user_message = op.key.is_user_message(), has_piggyback = op.piggyback != nullptr;
    std::uint64_t const number = to.out.number();
    if (!to.queued.first && write(to, op)) {
        record_send(peer, is_user_message && !has_piggyback, number);
        return process_.waiter.wake_rank(static_cast<unsigned>(peer));
    }
    op.stage = SendStage::queued;
    to.queued.append(op);
    mark_busy(to);
}

bool ShmTransport::write(Peer& to, Send& op) {
    if (op.piggyback && !write_piggyback(to, op)) [[unlikely]]
        return false;
    bool sync = op.mode == Mode::synchronous;
    if (op.eager && op.data.bytes > (sync ? Cell::payload_bytes_sync : Cell::payload_bytes))
        return write_eager(to, op, sync);
    if (!to.out.has_cell()) return false;
    if (!op.eager) return write_offer(to, op);
    Cell& cell = fill_header(to, op);
    op.data.pack(0, cell.payload, op.data.bytes);
    if (sync) {
        cell.set_send_id(reinterpret_cast<std::uint64_t>(&op));
        op.stage = SendStage::offered;
    }
    op.number = to.out.publish(cell, CellKind::small, sync);
    if (!sync) matching_.mark_sent(op);
    return true;
}

/// Returns true if the message may be written next: its piggyback is in the ring, or is too large for any ring.
bool ShmTransport::write_piggyback(Peer& to, Send& op) {
    std::size_t const bytes = op.piggyback->size();
    if (bytes <= to.out.largest_piece()) {
        CellDescriptor descriptor;
        std::byte* const room = to.out.has_cell() ? to.out.allocate(bytes, descriptor) : nullptr;
        if (!room) return false;
        std::memcpy(room, op.piggyback->data(), bytes);
        Cell& cell = to.out.cell();
        cell.length = bytes;
        cell.set_descriptor(descriptor);
        to.out.publish(cell, CellKind::piggyback);
    }
    op.piggyback.reset();
    return true;
}

bool ShmTransport::write_offer(Peer& to, Send& op) {
    Data const& data = op.data;
    CellDescriptor descriptor{.id = reinterpret_cast<std::uint64_t>(&op)};
    if (data.dense()) {
        process_.single_copy.expose(data.base, data.bytes);
        descriptor.address = reinterpret_cast<std::uint64_t>(data.base);
    } else if (auto range = AddressRange::of(data.base, data.count, *data.type);
               process_.single_copy.direct(reinterpret_cast<void const*>(range.first), range.bytes)) {
        // If the layout is small enough to be sent along, the receiver can copy directly from the data.
        std::int64_t layout[max_layout_numbers] = {data.count};
        std::size_t bytes = flatten(*data.type, std::span(layout).subspan(1)) * sizeof *layout;
        if (bytes != 0) {
            bytes += sizeof *layout;
            std::byte* room = to.out.allocate(bytes, descriptor);
            if (!room) return false;
            std::memcpy(room, layout, bytes);
            descriptor.address = reinterpret_cast<std::uint64_t>(data.base);
        }
    }
    Cell& cell = fill_header(to, op);
    cell.set_descriptor(descriptor);
    op.stage = SendStage::offered;
    op.number = to.out.publish(cell, CellKind::offer);
    return true;
}

Cell& ShmTransport::fill_header(Peer& to, Send const& op) {
    Cell& cell = to.out.cell();
    cell.context = op.key.context;
    cell.length = Cell::message_length(op.data.bytes, op.digest);
    cell.source = op.key.source;
    cell.tag = op.key.tag;
    return cell;
}

bool ShmTransport::write_eager(Peer& to, Send& op, bool sync) {
    std::size_t bytes = op.data.bytes, step = eager_piece_bytes(bytes);
    CellDescriptor descriptor{.id = reinterpret_cast<std::uint64_t>(&op)};
    if (!to.out.has_cell((bytes + step - 1) / step + 1)) return false;
    std::byte* room = to.out.allocate(bytes, descriptor);
    if (!room) return false;
    descriptor.bytes = static_cast<std::uint32_t>(std::min(step, bytes));
    op.data.pack(0, room, descriptor.bytes);
    Cell& first = fill_header(to, op);
    first.set_descriptor(descriptor);
    op.stage = SendStage::offered;
    op.number = to.out.publish(first, CellKind::eager, sync);
    for (std::size_t at = descriptor.bytes; at < bytes; at += descriptor.bytes) {
        descriptor.offset += descriptor.bytes;
        descriptor.bytes = static_cast<std::uint32_t>(std::min(step, bytes - at));
        op.data.pack(at, room + at, descriptor.bytes);
        Cell& next = to.out.cell();
        next.set_descriptor(descriptor);
        to.out.publish(next, CellKind::more);
    }
    if (!sync) matching_.mark_sent(op);
    return true;
}

bool ShmTransport::write_piece(Peer& to, Send& op) {
    if (!to.out.has_cell()) return false;
    std::size_t bytes = std::min(piece_, op.wanted - op.position);
    CellDescriptor descriptor;
    std::byte* room = to.out.allocate(bytes, descriptor);
    if (!room) return false;
    op.data.pack(op.position, room, bytes);
    process_.rank_state().counters.staged.add(bytes);
    op.position += bytes;
    Cell& cell = to.out.cell();
    cell.context = op.receive;
    cell.length = bytes;
    cell.set_descriptor(descriptor);
    to.out.publish(cell, CellKind::piece);
    return true;
}

void ShmTransport::send_control(int peer, Control const& control) {
    Peer& to = at(peer);
    to.controls.push_back(control);
    if (flush(to)) process_.waiter.wake_rank(static_cast<unsigned>(peer));
    mark_busy(to);
}

bool ShmTransport::flush(Peer& to) {
    bool moved = false;
    for (; !to.controls.empty() && to.out.has_cell(); moved = true) {
        Control const& c = to.controls.front();
        Cell& cell = to.out.cell();
        cell.context = c.context;
        cell.length = c.length;
        cell.set_descriptor(c.descriptor);
        to.out.publish(cell, c.kind, c.flag);
        to.controls.pop_front();
    }
    while (Send* op = to.queued.first) {
        // Removed first: the completion callback may free the operation, begin another one or cancel one.
        to.queued.pop();
        if (!write(to, *op)) {
            to.queued.prepend(*op);
            break;
        }
        moved = true;
    }
    while (Send* op = to.granted.first) {
        if (!write_piece(to, *op)) break;
        moved = true;
        if (op->position < op->wanted) continue;
        to.granted.pop();
        matching_.mark_sent(*op);
    }
    return moved;
}

void ShmTransport::mark_busy(Peer& to) {
    if (to.busy || !to.has_pending_work()) return;
    to.busy = true;
    busy_.push_back(&to);
}

bool ShmTransport::flush_busy() {
    bool moved = false;
    for (std::size_t i = 0; i < busy_.size();) {
        Peer& to = *busy_[i];
        if (finish_shared_copy(to) | flush(to)) {
            moved = true;
            process_.waiter.wake_rank(static_cast<unsigned>(&to - peers_.data()));
        }
        if (to.has_pending_work()) {
            ++i;
        } else {
            to.busy = false;
            busy_[i] = busy_.back();
            busy_.pop_back();
        }
    }
    return moved;
}

// Direct stores into a posted receive that is announced (p2p/shm/posted_receive.hpp): one copy and no answer. Between
// two cores, 4 KiB take 0.08 µs this way, 0.22 µs through the ring, and 0.15 µs if the receiver reads them from the
// sender and answers `done`; 16 KiB take 0.15, 0.68 and 0.39 µs.

namespace {

constexpr std::size_t min_polled_bytes = 4096;   // bytes; below this, a second copy takes no longer than one more poll
constexpr std::size_t bytes_per_poll = 1024;     // bytes that can be copied in the time of a poll
constexpr unsigned max_announcement_misses = 6;

void copy(Copier const& copier, std::byte* to, std::byte const* from, std::size_t n) {
    if (n >= 4096) return void(copier.copy(to, from, n, 2 * n));
    for (std::size_t at = 0; at < n; at += 2048) copy_piece(to + at, from + at, std::min<std::size_t>(n - at, 2048));
}

}   // namespace

void ShmTransport::announce(Receive& op) noexcept try {
    Peer& from = peers_[static_cast<std::size_t>(op.peer)];
    if (!from.open && !open(op.peer, from)) return;   // another protocol reports the error or delivers the message
    if (from.announced || !op.data.dense() || !matching_.is_exclusive(op)) return;
    if (!process_.single_copy.direct(op.data.base, op.data.bytes)) return;
    from.announced = &op;
    reannounce(from);
} catch (std::bad_alloc const&) {   // no memory to map the peer's memory: the message uses another protocol
}

/// Announces the receive for the next cell, unless that cell has already arrived.
void ShmTransport::reannounce(Peer& from) {
    std::uint64_t const next = from.in.number();
    if (from.announcement.is_for_cell(next) || from.in.peek()) return;
    Receive const& op = *from.announced;
    from.announcement.announce(next, op.key, reinterpret_cast<std::uint64_t>(op.data.base), op.data.bytes);
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

bool ShmTransport::store_directly(Peer& to, Send& op) {
    if (to.queued.first || !to.out.has_cell()) return false;
    int const polls = polls_for_announcement(to, op.data.bytes);
    std::optional<PostedReceiveClaim> claim;
    bool const announced = poll_briefly(polls, [&] {
        claim.emplace(to.out.posted_receive());
        return claim->matches(to.out.number(), op.key, op.data.bytes);
    });
    if (announced) {
        to.announcement_misses = to.skipped_waits = 0;
        return store_claimed(*claim, to, op);
    }
    if (polls > 1) {
        to.announcement_misses =
            static_cast<std::uint8_t>(std::min<unsigned>(to.announcement_misses + 1u, max_announcement_misses));
        to.skipped_waits = static_cast<std::uint8_t>((1u << to.announcement_misses) - 1);
    }
    return false;
}

bool ShmTransport::store_claimed(PostedReceiveClaim& claim, Peer& to, Send& op) {
    auto const receiver = static_cast<unsigned>(&to - peers_.data());
    std::uint64_t const address = claim.address();
    std::size_t const bytes = op.data.bytes;
    OwnAttachments own;
    if (!process_.single_copy.has_local_address(receiver, address, bytes, &own) || !claim.try_claim()) return false;
    copy(process_.copier, process_.single_copy.local_address(receiver, address, bytes, &own), op.data.base, bytes);
    op.eager = false;   // it is matched, so it can no longer be cancelled
    op.number = to.out.publish(fill_header(to, op), CellKind::stored);
    matching_.mark_sent(op);
    return true;
}

/// Returns how many times the sender polls for a receive that is about to be posted: for about the duration of the copy
/// that a direct store saves, so that it never loses more than that. If no receive is posted in that time, the sender
/// polls only once for each of the next 2^n − 1 messages of at least `min_polled_bytes` bytes, n being the number of
/// failures in a row (at most max_announcement_misses). It also polls only once for smaller messages, and if this rank
/// shares its core.
int ShmTransport::polls_for_announcement(Peer& to, std::size_t bytes) const {
    if (bytes < min_polled_bytes || process_.waiter.shares_core()) return 1;
    if (to.skipped_waits == 0) return static_cast<int>(2 + bytes / bytes_per_poll);
    --to.skipped_waits;
    return 1;
}

}   // namespace tutti::p2p
