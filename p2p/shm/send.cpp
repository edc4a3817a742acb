// SPDX-License-Identifier: BSD-3-Clause
// The sending half: cells and pieces into rings, and the lines of what found no room.
#include "p2p/shm/transport.hpp"
#include "runtime/datatype/layout/remote.hpp"

namespace tutti::p2p {
namespace {

constexpr std::size_t most_layout_numbers = 128;   // 1 KiB of the ring: any vector, subarray or structure of them

/// Bytes per piece of an eager message: the receiver copies one out while the sender copies the next one in.
std::size_t eager_step(std::size_t bytes) { return bytes <= 8192 ? 2048 : 4096; }

}   // namespace

void ShmTransport::Line::remove(Send& op) {
    Send* before = nullptr;
    for (Send* s = first; s != &op; s = s->next) before = s;
    (before ? before->next : first) = op.next;
    if (last == &op) last = before;
}

bool ShmTransport::send_small(int peer, Key const& key, Data const& data) {
    Peer& to = at(peer);
    std::size_t const bytes = data.bytes;
    TypeDigest const digest = data.element ? data.element->digest() : TypeDigest();
    if (digest.mixed() || to.queued.first || !to.out.has_cell() || !to.out.spend(bytes)) return false;
    Cell& cell = to.out.cell();
    cell.context = key.context;
    cell.length = Cell::message_length(bytes, digest);
    cell.source = key.source;
    cell.tag = key.tag;
    if (bytes != 0) std::memcpy(cell.payload, data.base, bytes);   // no address when nothing is sent
    std::uint64_t const number = to.out.publish(cell, Kind::small);
    note_send(peer, key.of_program(), number);
    process_.waiter.wake_rank(static_cast<unsigned>(peer));
    return true;
}

void ShmTransport::begin(Send& op) {
    int const peer = op.peer;   // an operation that has been written may be gone
    Peer& to = at(peer);
    if (may_store(op) && store(to, op)) return process_.waiter.wake_rank(static_cast<unsigned>(peer));
    op.eager = op.data.bytes <= eager_limit_ && to.out.spend(op.data.bytes);
    bool const is_of_program = op.key.of_program(), has_note = op.note != nullptr;
    std::uint64_t const number = to.out.number();
    if (!to.queued.first && write(to, op)) {
        note_send(peer, is_of_program && !has_note, number);
        return process_.waiter.wake_rank(static_cast<unsigned>(peer));
    }
    op.stage = SendStage::queued;
    to.queued.append(op);
    mark_busy(to);
}

bool ShmTransport::write(Peer& to, Send& op) {
    if (op.note && !write_note(to, op)) [[unlikely]]
        return false;
    bool sync = op.mode == Mode::synchronous;
    if (op.eager && op.data.bytes > (sync ? Cell::room_sync : Cell::room)) return write_eager(to, op, sync);
    if (!to.out.has_cell()) return false;
    if (!op.eager) return write_offer(to, op);
    Cell& cell = head(to, op);
    op.data.gather(0, cell.payload, op.data.bytes);
    if (sync) {
        cell.set_sender(reinterpret_cast<std::uint64_t>(&op));
        op.stage = SendStage::offered;
    }
    op.number = to.out.publish(cell, sync ? Kind::small_sync : Kind::small);
    if (!sync) matching_.sent(op);
    return true;
}

/// True when the message may follow: its note is in the ring, or would never fit.
bool ShmTransport::write_note(Peer& to, Send& op) {
    std::size_t const bytes = op.note->size();
    if (bytes <= to.out.largest_piece()) {
        Remote remote;
        std::byte* const room = to.out.has_cell() ? to.out.place(bytes, remote) : nullptr;
        if (!room) return false;
        std::memcpy(room, op.note->data(), bytes);
        Cell& cell = to.out.cell();
        cell.length = bytes;
        cell.set_remote(remote);
        to.out.publish(cell, Kind::note);
    }
    op.note.reset();
    return true;
}

bool ShmTransport::write_offer(Peer& to, Send& op) {
    Data const& data = op.data;
    Remote remote{.id = reinterpret_cast<std::uint64_t>(&op)};
    if (data.dense()) {
        process_.single_copy.show(data.base, data.bytes);
        remote.address = reinterpret_cast<std::uint64_t>(data.base);
    } else if (auto range = AddressRange::of(data.base, data.count, *data.type);
               process_.single_copy.direct(reinterpret_cast<void const*>(range.first), range.bytes)) {
        // A layout that can be sent along lets the receiver copy straight from it.
        std::int64_t layout[most_layout_numbers] = {data.count};
        std::size_t bytes = flatten(*data.type, std::span(layout).subspan(1)) * sizeof *layout;
        if (bytes != 0) {
            bytes += sizeof *layout;
            std::byte* room = to.out.place(bytes, remote);
            if (!room) return false;
            std::memcpy(room, layout, bytes);
            remote.address = reinterpret_cast<std::uint64_t>(data.base);
        }
    }
    Cell& cell = head(to, op);
    cell.set_remote(remote);
    op.stage = SendStage::offered;
    op.number = to.out.publish(cell, Kind::offer);
    return true;
}

Cell& ShmTransport::head(Peer& to, Send const& op) {
    Cell& cell = to.out.cell();
    cell.context = op.key.context;
    cell.length = Cell::message_length(op.data.bytes, op.digest);
    cell.source = op.key.source;
    cell.tag = op.key.tag;
    return cell;
}

bool ShmTransport::write_eager(Peer& to, Send& op, bool sync) {
    std::size_t bytes = op.data.bytes, step = eager_step(bytes);
    Remote remote{.id = reinterpret_cast<std::uint64_t>(&op)};
    if (!to.out.has_cell((bytes + step - 1) / step + 1)) return false;
    std::byte* room = to.out.place(bytes, remote);
    if (!room) return false;
    remote.bytes = static_cast<std::uint32_t>(std::min(step, bytes));
    op.data.gather(0, room, remote.bytes);
    Cell& first = head(to, op);
    first.set_remote(remote);
    op.stage = SendStage::offered;
    op.number = to.out.publish(first, sync ? Kind::eager_sync : Kind::eager);
    for (std::size_t at = remote.bytes; at < bytes; at += remote.bytes) {
        remote.offset += remote.bytes;
        remote.bytes = static_cast<std::uint32_t>(std::min(step, bytes - at));
        op.data.gather(at, room + at, remote.bytes);
        Cell& next = to.out.cell();
        next.set_remote(remote);
        to.out.publish(next, Kind::more);
    }
    if (!sync) matching_.sent(op);
    return true;
}

bool ShmTransport::write_piece(Peer& to, Send& op) {
    if (!to.out.has_cell()) return false;
    std::size_t bytes = std::min(piece_, op.wanted - op.position);
    Remote remote;
    std::byte* room = to.out.place(bytes, remote);
    if (!room) return false;
    op.data.gather(op.position, room, bytes);
    process_.rank_state().counters.staged.add(bytes);
    op.position += bytes;
    Cell& cell = to.out.cell();
    cell.context = op.receive;
    cell.length = bytes;
    cell.set_remote(remote);
    to.out.publish(cell, Kind::piece);
    return true;
}

void ShmTransport::control(int peer, Control const& control) {
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
        cell.set_remote(c.remote);
        to.out.publish(cell, c.kind);
        to.controls.pop_front();
    }
    while (Send* op = to.queued.first) {
        // Out of the line first: who hears that it is done may free it, begin another one, or take one back.
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
        matching_.sent(*op);
    }
    return moved;
}

void ShmTransport::mark_busy(Peer& to) {
    if (to.busy || !to.waits()) return;
    to.busy = true;
    busy_.push_back(&to);
}

bool ShmTransport::flush_busy() {
    bool moved = false;
    for (std::size_t i = 0; i < busy_.size();) {
        Peer& to = *busy_[i];
        if (settle(to) | flush(to)) {
            moved = true;
            process_.waiter.wake_rank(static_cast<unsigned>(&to - peers_.data()));
        }
        if (to.waits()) {
            ++i;
        } else {
            to.busy = false;
            busy_[i] = busy_.back();
            busy_.pop_back();
        }
    }
    return moved;
}

}   // namespace tutti::p2p
