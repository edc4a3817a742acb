// SPDX-License-Identifier: BSD-3-Clause
// Reading and writing one connection.
#include "p2p/tcp/link.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include <sys/socket.h>
#include <sys/uio.h>

namespace tutti::p2p::tcp {
namespace {

constexpr std::size_t read_budget = 4 << 20, write_budget = 4 << 20;   // per call, so that other links get their turn
constexpr int max_parts = 32;                                          // of one vectored call
constexpr std::size_t max_unused = 16;                                 // spare frames kept for reuse
constexpr std::size_t small_read_bytes = 4096;   // bytes read at a time while the shared buffer is in use

/// Stores the parts of a frame that are not sent yet to `out`. Returns their number.
int parts_of(std::byte const* header, std::byte const* data, std::size_t bytes, std::size_t sent, iovec* out) {
    int n = 0;
    if (sent < Frame::header_bytes) out[n++] = {const_cast<std::byte*>(header + sent), Frame::header_bytes - sent};
    std::size_t const at = sent > Frame::header_bytes ? sent - Frame::header_bytes : 0;
    if (at < bytes) out[n++] = {const_cast<std::byte*>(data + at), bytes - at};
    return n;
}

/// Describes the error of a broken connection. The system uses several codes for the exit of the other process.
std::string describe_link_error(int error) {
    if (error == 0 || error == ECONNRESET || error == EPIPE) return "the other end has closed it";
    if (error == ETIMEDOUT) return "no answer for too long";
    return std::strerror(error);
}

ssize_t send_parts(int socket, iovec* parts, int n) {
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = static_cast<std::size_t>(n);
    return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

bool would_block(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

}   // namespace

void Link::reserve(std::size_t frames) {
    while (unused_.size() < frames + 1) unused_.emplace_back();
}

bool Link::send(Frame const& frame, std::byte const* data, void* sender, std::unique_ptr<std::byte[]> owned) {
    if (frame.kind != FrameKind::shutdown) reserve(1);
    QueuedFrame& w = unused_.front();
    frame.encode(w.header);
    w.data = data;
    w.bytes = frame.payload();
    w.sent = 0;
    w.sender = sender;
    bytes_.sent += w.size();
    if (state_ == State::open && queue_.empty()) w.sent = write(w);
    if (w.sent == w.size()) return true;
    w.owned = std::move(owned);
    queue_.splice(queue_.end(), unused_, unused_.begin());
    poll_for_output(true);
    return !sender;
}

/// Returns how many bytes of a frame the system takes immediately. Errors are not handled here, where the caller is
/// about to begin an operation: they occur again when the link is polled.
std::size_t Link::write(QueuedFrame const& w) {
    iovec parts[2];
    ssize_t const n = send_parts(socket_.get(), parts, parts_of(w.header.data(), w.data, w.bytes, w.sent, parts));
    return n > 0 ? static_cast<std::size_t>(n) : 0;
}

bool Link::remove_queued(void const* sender) {
    auto const w = std::find_if(queue_.begin(), queue_.end(),
                                [&](QueuedFrame const& one) { return one.sender == sender && one.sent == 0; });
    if (w == queue_.end()) return false;
    bytes_.sent -= w->size();
    recycle(w);
    return true;
}

/// Removes a frame from the queue and keeps its memory for reuse.
void Link::recycle(std::list<QueuedFrame>::iterator frame) {
    frame->owned.reset();
    if (unused_.size() < max_unused) unused_.splice(unused_.begin(), queue_, frame);
    else queue_.erase(frame);
}

bool Link::flush() {
    bool moved = false, more = true;
    try {
        for (std::size_t budget = write_budget / Frame::max_data; state_ == State::open && budget > 0; --budget) {
            if (queue_.empty() && !(more = handler_.refill(rank_))) break;
            moved = true;
            if (!queue_.empty() && !write_some()) break;
        }
    } catch (std::bad_alloc const&) {
        poll_for_output(true);
        throw;
    }
    poll_for_output(more);
    return moved;
}

/// Returns false if the system takes no more data now.
bool Link::write_some() {
    iovec parts[max_parts];
    int n = 0;
    std::size_t wanted = 0;
    for (QueuedFrame const& w : queue_) {
        if (n + 2 > max_parts) break;
        n += parts_of(w.header.data(), w.data, w.bytes, w.sent, parts + n);
        wanted += w.size() - w.sent;
    }
    ssize_t const done = send_parts(socket_.get(), parts, n);
    if (done < 0) {
        if (!would_block(errno)) connection_ended(errno);
        return false;
    }
    remove_sent(static_cast<std::size_t>(done));
    return static_cast<std::size_t>(done) == wanted;
}

void Link::remove_sent(std::size_t bytes) {
    while (bytes != 0) {
        QueuedFrame& w = queue_.front();
        std::size_t const n = std::min(bytes, w.size() - w.sent);
        w.sent += n;
        bytes -= n;
        if (w.sent < w.size()) return;
        void* const sender = w.sender;
        recycle(queue_.begin());
        if (sender) handler_.written(sender);
    }
}

bool Link::read() {
    bool moved = has_unprocessed_input();
    if (moved && !consume_kept()) return true;
    for (std::size_t budget = read_budget; state_ == State::open;) {
        std::span<std::byte> const room =
            reader_.payload_left() != 0 ? handler_.payload_buffer(rank_) : std::span<std::byte>{};
        std::byte one[small_read_bytes];   // one header or payload, and nothing of the next
        std::size_t const left = reader_.payload_left() != 0 ? reader_.payload_left() : reader_.header_left();
        std::span<std::byte> const overflow = !ahead_.owner  ? std::span(ahead_.memory)
                                              : room.empty() ? std::span(one).first(std::min(small_read_bytes, left))
                                                             : std::span<std::byte>{};
        iovec parts[2] = {{room.data(), room.size()}, {overflow.data(), overflow.size()}};
        ssize_t const result = room.empty() ? readv(socket_.get(), parts + 1, 1) : readv(socket_.get(), parts, 2);
        if (result < 0 && would_block(errno)) return moved;
        if (result <= 0) return connection_ended(result == 0 ? 0 : errno), true;
        auto const n = static_cast<std::size_t>(result), direct = std::min(n, room.size());
        bytes_.received += n;
        moved = true;
        if (direct != 0) {
            reader_.skip(direct);
            handle_payload(room.first(direct));
        }
        if (!consume_bytes(overflow.first(n - direct))) return true;
        // The system returned fewer bytes than requested: there are no more.
        if (n < room.size() + overflow.size() || budget <= n) return true;
        budget -= n;
    }
    return moved;
}

bool Link::has_unprocessed_input() const {
    bool const refused = reader_.error() != nullptr;   // the link could not be ended for lack of memory
    return state_ == State::open && (pending_callback_ != PendingCallback::nothing || ahead_.owner == this || refused);
}

/// Passes on the bytes kept from an earlier call. Returns false if the link has ended.
bool Link::consume_kept() {
    std::span<std::byte const> in;
    if (ahead_.owner == this) {
        in = std::exchange(ahead_.unprocessed, {});
        ahead_.owner = nullptr;
    }
    return consume_bytes(in);
}

/// Cuts bytes into frames and passes them on. Returns false if the link has ended.
bool Link::consume_bytes(std::span<std::byte const> in) {
    try {
        while (run_pending_callback()) {
            switch (reader_.next(in)) {
            case FrameReader::Event::more: return true;
            case FrameReader::Event::broken: return fail(reader_.error()), false;
            case FrameReader::Event::payload: handle_payload(reader_.piece()); break;
            case FrameReader::Event::frame: pending_callback_ = PendingCallback::arrived; break;
            }
        }
        return false;
    } catch (...) {
        if (!in.empty() && state_ == State::open) {
            ahead_.owner = this;
            ahead_.unprocessed = in;
        }
        throw;
    }
}

/// Makes the pending call to the handler; keeps it pending if there is no memory. Returns false if the link has ended.
bool Link::run_pending_callback() {
    PendingCallback const callback = std::exchange(pending_callback_, PendingCallback::nothing);
    if (callback == PendingCallback::nothing) return state_ == State::open;
    try {
        if (callback == PendingCallback::complete) handler_.payload_complete(rank_);
        else if (!handle_frame(reader_.frame())) return false;
    } catch (std::bad_alloc const&) {
        pending_callback_ = callback;
        throw;
    }
    return state_ == State::open && (pending_callback_ == PendingCallback::nothing || run_pending_callback());
}

/// Returns false if the link has ended.
bool Link::handle_frame(Frame const& frame) {
    if (shutdown_received_) return fail("a frame arrived after the shutdown frame"), false;
    if (char const* error = handler_.frame_arrived(rank_, frame)) return fail(error), false;
    shutdown_received_ = frame.kind == FrameKind::shutdown;
    if (frame.has_payload() && frame.length == 0) pending_callback_ = PendingCallback::complete;
    return true;
}

void Link::handle_payload(std::span<std::byte const> piece) {
    handler_.payload_arrived(rank_, piece);
    if (reader_.payload_left() == 0) pending_callback_ = PendingCallback::complete;
}

void Link::open(Socket socket) {
    socket_ = std::move(socket);
    state_ = State::open;
    polls_for_output_ = true;
    poller_.add(socket_, number_, true);
}

void Link::check(std::chrono::seconds silence) {
    if (state_ == State::open && socket_.is_unresponsive(silence)) fail(describe_link_error(ETIMEDOUT));
}

void Link::send_shutdown() {
    if (shutdown_sent_ || state_ != State::open) return;
    send({.kind = FrameKind::shutdown});
    shutdown_sent_ = true;
}

void Link::connection_ended(int error) {
    if (shutdown_received_) close();
    else fail(describe_link_error(error));
}

void Link::close() {
    if (socket_) poller_.remove(socket_);
    socket_.reset();
    if (ahead_.owner == this) ahead_.owner = nullptr;
    if (state_ == State::open) state_ = State::closed;
}

void Link::fail(std::string reason) {
    if (state_ == State::broken) return;
    close();
    state_ = State::broken;
    reason_ = std::move(reason);
    queue_.clear();
}

void Link::poll_for_output(bool wanted) {
    if (state_ != State::open || polls_for_output_ == wanted) return;
    polls_for_output_ = wanted;
    poller_.change(socket_, number_, wanted);
}

}   // namespace tutti::p2p::tcp
