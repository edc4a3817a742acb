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
    data.pack(at, copy.get(), n);
    return copy;
}

}   // namespace

/// Sends a frame without data. Allocates no memory if the caller has reserved it.
void TcpTransport::send(int rank, Frame frame) {
    frame.matched = peer(rank).credit.publish();
    network_.send(rank, frame);
}

void TcpTransport::send_piggyback(int rank, Send& op) {
    std::size_t const bytes = op.piggyback->size();
    if (bytes <= Frame::max_data) {
        auto copy = std::make_unique_for_overwrite<std::byte[]>(bytes);
        std::byte const* const data = copy.get();
        std::memcpy(copy.get(), op.piggyback->data(), bytes);
        Frame const frame{.kind = FrameKind::piggyback, .matched = peer(rank).credit.publish(), .length = bytes};
        network_.send(rank, frame, data, nullptr, std::move(copy));
    }
    op.piggyback.reset();
}

void TcpTransport::begin(Send& op) {
    int const rank = op.peer - local_ranks_;
    op.failure = nullptr;
    op.id = 0;
    if (std::string const* lost = matching_.loss_reason(op.peer)) return matching_.fail(op, *lost);
    Peer& to = peer(rank);
    bool const sync = op.mode == Mode::synchronous;
    bool const is_receive_posted = op.mode == Mode::ready && op.data.dense();   // received directly into its buffer
    bool const eager =
        op.data.bytes <= (is_receive_posted ? Frame::max_eager : eager_limit_) && to.credit.suffices(op.data.bytes);
    // All memory is allocated before anything changes.
    network_.reserve(rank, 2);
    sends_.reserve();
    std::unique_ptr<std::byte[]> copy;
    if (op.piggyback) [[unlikely]]
        send_piggyback(rank, op);
    if (eager && !op.data.dense()) copy = packed(op.data, 0, op.data.bytes);
    op.eager = eager;
    if (eager) to.credit.spend(op.data.bytes);
    op.number = to.sent++;
    op.stage = SendStage::offered;
    Frame frame{.kind = !op.eager ? FrameKind::offer
                        : sync    ? FrameKind::eager_sync
                                  : FrameKind::eager,
                .matched = to.credit.publish(),
                .context = op.key.context,
                .source = op.key.source,
                .tag = op.key.tag,
                .length = op.data.bytes,
                .number = op.number,
                .digest = op.digest};
    if (!op.eager || sync) frame.id = op.id = sends_.add(op, rank);
    else if (op.key.is_user_message()) frame.id = reinterpret_cast<std::uintptr_t>(matching_.process().call_site);
    if (!op.eager) {
        network_.send(rank, frame);
        return;
    }
    std::byte const* const data = copy ? copy.get() : op.data.base;
    bool const is_sent = network_.send(rank, frame, data, &op, std::move(copy));
    if (sync) return;
    if (is_sent) return matching_.mark_sent(op);
    op.stage = SendStage::queued;
    op.id = sends_.add(op, rank);
}

/// Invalidates the identifier of a send.
void TcpTransport::release_id(Send& op) {
    if (op.id != 0) sends_.remove(op.id);
    op.id = 0;
}

void TcpTransport::written(void* sender) {
    Send& op = *static_cast<Send*>(sender);
    if (op.stage == SendStage::queued) {
        if (!op.cancelling) release_id(op);
        matching_.mark_sent(op);
    } else if (op.stage == SendStage::granted && op.position == op.wanted) {
        --incomplete_grants_;
        if (!op.cancelling) release_id(op);
        matching_.mark_sent(op);
    }
    matching_.notify_progress();
}

char const* TcpTransport::granted(int rank, Frame const& frame) {
    Send* const op = sends_.find(frame.id, rank);
    if (!op || op->eager || op->stage != SendStage::offered) return "a grant for a message that was not offered";
    if (frame.length > op->data.bytes) return "a grant for more bytes than were offered";
    op->stage = SendStage::granted;
    op->receive = frame.number;
    op->wanted = frame.length;
    op->position = 0;
    ++incomplete_grants_;
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
    Frame const frame{.kind = FrameKind::data, .matched = to.credit.publish(), .length = n, .id = op.receive};
    std::byte const* const data = copy ? copy.get() : op.data.base + at;
    if (network_.send(rank, frame, data, &op, std::move(copy))) written(&op);
    return true;
}

char const* TcpTransport::done(int rank, Frame const& frame) {
    Send* const op = sends_.find(frame.id, rank);
    if (!op || op->stage != SendStage::offered) return "an answer to an unknown message";
    if (!op->cancelling) release_id(*op);
    matching_.mark_sent(*op);
    matching_.notify_progress();
    return nullptr;
}

void TcpTransport::cancel(Send& op) {
    if (op.cancelling || op.failure || op.stage == SendStage::granted) return;
    int const rank = op.peer - local_ranks_;
    if (matching_.loss_reason(op.peer)) return matching_.finish(op);   // no answer will arrive
    if (network_.remove_queued(rank, &op)) {
        peer(rank).credit.refund(op.data.bytes);
        release_id(op);
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

char const* TcpTransport::receive_cancel_answer(int rank, Frame const& frame) {
    Send* const op = sends_.find(frame.id, rank);
    if (!op || !op->cancelling) return "an answer to a cancellation that was not requested";
    op->cancelling = false;
    op->cancelled = frame.kind == FrameKind::cancelled;
    if (!op->cancelled && op->stage != SendStage::sent) return nullptr;   // the send continues
    release_id(*op);
    matching_.finish(*op);
    matching_.notify_progress();
    return nullptr;
}

}   // namespace tutti::p2p
