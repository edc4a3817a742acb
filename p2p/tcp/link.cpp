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
constexpr int most_parts = 32;                                         // of one vectored call
constexpr std::size_t most_unused = 16;                                // spare frames kept for reuse
constexpr std::size_t little = 4096;   // bytes read at a time while the shared buffer is in use

/// Stores the parts of a frame that are not sent yet to `out`. Returns their number.
int parts_of(std::byte const* header, std::byte const* data, std::size_t bytes, std::size_t sent, iovec* out) {
    int n = 0;
    if (sent < Frame::header_bytes) out[n++] = {const_cast<std::byte*>(header + sent), Frame::header_bytes - sent};
    std::size_t const at = sent > Frame::header_bytes ? sent - Frame::header_bytes : 0;
    if (at < bytes) out[n++] = {const_cast<std::byte*>(data + at), bytes - at};
    return n;
}

/// Describes the error of a broken connection. The system uses several codes for the exit of the other process.
std::string sentence_for(int error) {
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

bool Link::send(Frame const& frame, std::byte const* data, void* sender, std::unique_ptr<std::byte[]> own) {
    if (frame.kind != FrameKind::bye) reserve(1);
    Waiting& w = unused_.front();
    frame.encode(w.header);
    w.data = data;
    w.bytes = frame.payload();
    w.sent = 0;
    w.sender = sender;
    bytes_.sent += w.size();
    if (state_ == State::open && queue_.empty()) w.sent = write(w);
    if (w.sent == w.size()) return true;
    w.own = std::move(own);
    queue_.splice(queue_.end(), unused_, unused_.begin());
    want_out(true);
    return !sender;
}

/// Returns how many bytes of a frame the system takes immediately. Errors are not handled here, where the caller is
/// about to begin an operation: they occur again when the link is polled.
std::size_t Link::write(Waiting const& w) {
    iovec parts[2];
    ssize_t const n = send_parts(socket_.get(), parts, parts_of(w.header.data(), w.data, w.bytes, w.sent, parts));
    return n > 0 ? static_cast<std::size_t>(n) : 0;
}

bool Link::take_back(void const* sender) {
    auto const w = std::find_if(queue_.begin(), queue_.end(),
                                [&](Waiting const& one) { return one.sender == sender && one.sent == 0; });
    if (w == queue_.end()) return false;
    bytes_.sent -= w->size();
    recycle(w);
    return true;
}

/// Removes a frame from the queue and keeps its memory for reuse.
void Link::recycle(std::list<Waiting>::iterator frame) {
    frame->own.reset();
    if (unused_.size() < most_unused) unused_.splice(unused_.begin(), queue_, frame);
    else queue_.erase(frame);
}

bool Link::flush() {
    bool moved = false, more = true;
    try {
        for (std::size_t budget = write_budget / Frame::most_data; state_ == State::open && budget > 0; --budget) {
            if (queue_.empty() && !(more = handler_.refill(rank_))) break;
            moved = true;
            if (!queue_.empty() && !write_some()) break;
        }
    } catch (std::bad_alloc const&) {
        want_out(true);
        throw;
    }
    want_out(more);
    return moved;
}

/// Returns false if the system takes no more data now.
bool Link::write_some() {
    iovec parts[most_parts];
    int n = 0;
    std::size_t wanted = 0;
    for (Waiting const& w : queue_) {
        if (n + 2 > most_parts) break;
        n += parts_of(w.header.data(), w.data, w.bytes, w.sent, parts + n);
        wanted += w.size() - w.sent;
    }
    ssize_t const done = send_parts(socket_.get(), parts, n);
    if (done < 0) {
        if (!would_block(errno)) ended(errno);
        return false;
    }
    wrote(static_cast<std::size_t>(done));
    return static_cast<std::size_t>(done) == wanted;
}

void Link::wrote(std::size_t bytes) {
    while (bytes != 0) {
        Waiting& w = queue_.front();
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
    bool moved = owes();
    if (moved && !take_kept()) return true;
    for (std::size_t budget = read_budget; state_ == State::open;) {
        std::span<std::byte> const room = reader_.payload_left() != 0 ? handler_.room(rank_) : std::span<std::byte>{};
        std::byte one[little];   // one header or payload, and nothing of the next
        std::size_t const left = reader_.payload_left() != 0 ? reader_.payload_left() : reader_.header_left();
        std::span<std::byte> const behind = !ahead_.keeper ? std::span(ahead_.memory)
                                            : room.empty() ? std::span(one).first(std::min(little, left))
                                                           : std::span<std::byte>{};
        iovec parts[2] = {{room.data(), room.size()}, {behind.data(), behind.size()}};
        ssize_t const result = room.empty() ? readv(socket_.get(), parts + 1, 1) : readv(socket_.get(), parts, 2);
        if (result < 0 && would_block(errno)) return moved;
        if (result <= 0) return ended(result == 0 ? 0 : errno), true;
        auto const n = static_cast<std::size_t>(result), straight = std::min(n, room.size());
        bytes_.received += n;
        moved = true;
        if (straight != 0) {
            reader_.skip(straight);
            payload_came(room.first(straight));
        }
        if (!take_bytes(behind.first(n - straight))) return true;
        // The system returned fewer bytes than requested: there are no more.
        if (n < room.size() + behind.size() || budget <= n) return true;
        budget -= n;
    }
    return moved;
}

bool Link::owes() const {
    bool const refused = reader_.complaint() != nullptr;   // the link could not be ended for lack of memory
    return state_ == State::open && (owed_ != Owed::nothing || ahead_.keeper == this || refused);
}

/// Passes on the bytes kept from an earlier call. Returns false if the link has ended.
bool Link::take_kept() {
    std::span<std::byte const> in;
    if (ahead_.keeper == this) {
        in = std::exchange(ahead_.kept, {});
        ahead_.keeper = nullptr;
    }
    return take_bytes(in);
}

/// Cuts bytes into frames and passes them on. Returns false if the link has ended.
bool Link::take_bytes(std::span<std::byte const> in) {
    try {
        while (hand_on()) {
            switch (reader_.next(in)) {
            case FrameReader::Event::more: return true;
            case FrameReader::Event::broken: return fail(reader_.complaint()), false;
            case FrameReader::Event::payload: payload_came(reader_.piece()); break;
            case FrameReader::Event::frame: owed_ = Owed::arrived; break;
            }
        }
        return false;
    } catch (...) {
        if (!in.empty() && state_ == State::open) {
            ahead_.keeper = this;
            ahead_.kept = in;
        }
        throw;
    }
}

/// Makes the pending call to the handler; keeps it pending if there is no memory. Returns false if the link has ended.
bool Link::hand_on() {
    Owed const owed = std::exchange(owed_, Owed::nothing);
    if (owed == Owed::nothing) return state_ == State::open;
    try {
        if (owed == Owed::complete) handler_.complete(rank_);
        else if (!frame_arrived(reader_.frame())) return false;
    } catch (std::bad_alloc const&) {
        owed_ = owed;
        throw;
    }
    return state_ == State::open && (owed_ == Owed::nothing || hand_on());
}

/// Returns false if the link has ended.
bool Link::frame_arrived(Frame const& frame) {
    if (heard_bye_) return fail("a frame came after the goodbye"), false;
    if (char const* complaint = handler_.arrived(rank_, frame)) return fail(complaint), false;
    heard_bye_ = frame.kind == FrameKind::bye;
    if (frame.has_payload() && frame.length == 0) owed_ = Owed::complete;
    return true;
}

void Link::payload_came(std::span<std::byte const> piece) {
    handler_.payload(rank_, piece);
    if (reader_.payload_left() == 0) owed_ = Owed::complete;
}

void Link::open(Socket socket) {
    socket_ = std::move(socket);
    state_ = State::open;
    wants_out_ = true;
    poller_.add(socket_, number_, true);
}

void Link::check(std::chrono::seconds silence) {
    if (state_ == State::open && socket_.unheard(silence)) fail(sentence_for(ETIMEDOUT));
}

void Link::say_goodbye() {
    if (said_bye_ || state_ != State::open) return;
    send({.kind = FrameKind::bye});
    said_bye_ = true;
}

void Link::ended(int error) {
    if (heard_bye_) close();
    else fail(sentence_for(error));
}

void Link::close() {
    if (socket_) poller_.remove(socket_);
    socket_.reset();
    if (ahead_.keeper == this) ahead_.keeper = nullptr;
    if (state_ == State::open) state_ = State::closed;
}

void Link::fail(std::string reason) {
    if (state_ == State::broken) return;
    close();
    state_ = State::broken;
    reason_ = std::move(reason);
    queue_.clear();
}

void Link::want_out(bool wanted) {
    if (state_ != State::open || wants_out_ == wanted) return;
    wants_out_ = wanted;
    poller_.change(socket_, number_, wanted);
}

}   // namespace tutti::p2p::tcp
