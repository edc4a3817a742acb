// SPDX-License-Identifier: BSD-3-Clause
// Sending to ranks of other nodes.
#include <algorithm>
#include <cstring>
#include <utility>

#include "p2p/tcp/transport.hpp"

namespace tutti::p2p {

using tcp::Frame;
using tcp::FrameKind;

namespace {

constexpr std::size_t piece_bytes = 256 << 10;   // the most data for which other messages to the same rank must wait
constexpr std::size_t packed_piece_bytes = 64 << 10;   // stays in the second-level cache until the system copies it

/// Returns a copy of bytes [at, at + n) of data with gaps.
std::unique_ptr<std::byte[]> packed(Data const& data, std::size_t at, std::size_t n) {
    auto copy = std::make_unique_for_overwrite<std::byte[]>(n);
    data.gather(at, copy.get(), n);
    return copy;
}

}   // namespace

/// Sends a frame without data. Allocates no memory if the caller has reserved it.
void TcpTransport::send(int rank, Frame frame) {
    frame.matched = peer(rank).credit.tell();
    network_.send(rank, frame);
}

void TcpTransport::send_note(int rank, Send& op) {
    std::size_t const bytes = op.note->size();
    if (bytes <= Frame::most_data) {
        auto copy = std::make_unique_for_overwrite<std::byte[]>(bytes);
        std::byte const* const data = copy.get();
        std::memcpy(copy.get(), op.note->data(), bytes);
        Frame const frame{.kind = FrameKind::note, .matched = peer(rank).credit.tell(), .length = bytes};
        network_.send(rank, frame, data, nullptr, std::move(copy));
    }
    op.note.reset();
}

void TcpTransport::begin(Send& op) {
    int const rank = op.peer - here_;
    op.failure = nullptr;
    op.id = 0;
    if (std::string const* lost = matching_.loss(op.peer)) return matching_.fail(op, *lost);
    Peer& to = peer(rank);
    bool const sync = op.mode == Mode::synchronous;
    bool const awaited = op.mode == Mode::ready && op.data.dense();   // received directly into its buffer
    bool const eager =
        op.data.bytes <= (awaited ? Frame::most_eager : eager_limit_) && to.credit.suffices(op.data.bytes);
    // All memory is allocated before anything changes.
    network_.reserve(rank, 2);
    sends_.reserve();
    std::unique_ptr<std::byte[]> copy;
    if (op.note) [[unlikely]]
        send_note(rank, op);
    if (eager && !op.data.dense()) copy = packed(op.data, 0, op.data.bytes);
    op.eager = eager;
    if (eager) to.credit.spend(op.data.bytes);
    op.number = to.sent++;
    op.stage = SendStage::offered;
    Frame frame{.kind = !op.eager ? FrameKind::offer
                        : sync    ? FrameKind::eager_sync
                                  : FrameKind::eager,
                .matched = to.credit.tell(),
                .context = op.key.context,
                .source = op.key.source,
                .tag = op.key.tag,
                .length = op.data.bytes,
                .number = op.number,
                .digest = op.digest};
    if (!op.eager || sync) frame.id = op.id = sends_.add(op, rank);
    else if (op.key.of_program()) frame.id = reinterpret_cast<std::uintptr_t>(matching_.process().call_site);
    if (!op.eager) {
        network_.send(rank, frame);
        return;
    }
    std::byte const* const data = copy ? copy.get() : op.data.base;
    bool const left = network_.send(rank, frame, data, &op, std::move(copy));
    if (sync) return;
    if (left) return matching_.sent(op);
    op.stage = SendStage::queued;
    op.id = sends_.add(op, rank);
}

/// Invalidates the identifier of a send.
void TcpTransport::release(Send& op) {
    if (op.id != 0) sends_.remove(op.id);
    op.id = 0;
}

void TcpTransport::written(void* sender) {
    Send& op = *static_cast<Send*>(sender);
    if (op.stage == SendStage::queued) {
        if (!op.cancelling) release(op);
        matching_.sent(op);
    } else if (op.stage == SendStage::granted && op.position == op.wanted) {
        --streams_;
        if (!op.cancelling) release(op);
        matching_.sent(op);
    }
    matching_.happened();
}

char const* TcpTransport::granted(int rank, Frame const& frame) {
    Send* const op = sends_.find(frame.id, rank);
    if (!op || op->eager || op->stage != SendStage::offered) return "a grant for a message that was not offered";
    if (frame.length > op->data.bytes) return "a grant of more than was offered";
    op->stage = SendStage::granted;
    op->receive = frame.number;
    op->wanted = frame.length;
    op->position = 0;
    ++streams_;
    peer(rank).granted.push(*op);
    network_.flush(rank);
    return nullptr;
}

void TcpTransport::count_bytes(Segment const& segment, NetworkBytes& bytes) const {
    network_.count_bytes(segment, bytes);
    for (std::size_t rank = 0; rank < peers_.size(); ++rank) {
        if (!peers_[rank] || !segment.suspected(static_cast<int>(rank))) continue;
        for (Send const* op = peers_[rank]->granted.first; op; op = op->next) bytes.sent += op->wanted - op->position;
    }
}

bool TcpTransport::refill(int rank) {
    Peer& to = peer(rank);
    if (!to.granted.first) return false;
    Send& op = *to.granted.first;
    std::size_t const at = op.position;
    std::size_t const n = std::min(op.data.dense() ? piece_bytes : packed_piece_bytes, op.wanted - at);
    network_.reserve(rank, 1);
    std::unique_ptr<std::byte[]> copy;
    if (!op.data.dense()) copy = packed(op.data, at, n);
    to.granted.pop();
    op.position += n;
    if (op.position < op.wanted) to.granted.push(op);
    Frame const frame{.kind = FrameKind::data, .matched = to.credit.tell(), .length = n, .id = op.receive};
    std::byte const* const data = copy ? copy.get() : op.data.base + at;
    if (network_.send(rank, frame, data, &op, std::move(copy))) written(&op);
    return true;
}

char const* TcpTransport::done(int rank, Frame const& frame) {
    Send* const op = sends_.find(frame.id, rank);
    if (!op || op->stage != SendStage::offered) return "an answer to a message that was not sent";
    if (!op->cancelling) release(*op);
    matching_.sent(*op);
    matching_.happened();
    return nullptr;
}

void TcpTransport::cancel(Send& op) {
    if (op.cancelling || op.failure || op.stage == SendStage::granted) return;
    int const rank = op.peer - here_;
    if (matching_.loss(op.peer)) return matching_.finish(op);   // no answer will arrive
    if (network_.take_back(rank, &op)) {
        peer(rank).credit.unspend(op.data.bytes);
        release(op);
        op.cancelled = true;
        return matching_.finish(op);
    }
    network_.reserve(rank, 1);
    sends_.reserve();
    op.done = false;
    op.cancelling = true;
    if (op.id == 0) op.id = sends_.add(op, rank);
    send(rank, {.kind = FrameKind::cancel, .id = op.id, .number = op.number});
}

char const* TcpTransport::cancel_answered(int rank, Frame const& frame) {
    Send* const op = sends_.find(frame.id, rank);
    if (!op || !op->cancelling) return "an answer to a question that was not asked";
    op->cancelling = false;
    op->cancelled = frame.kind == FrameKind::cancelled;
    if (!op->cancelled && op->stage != SendStage::sent) return nullptr;   // the send continues
    release(*op);
    matching_.finish(*op);
    matching_.happened();
    return nullptr;
}

}   // namespace tutti::p2p
