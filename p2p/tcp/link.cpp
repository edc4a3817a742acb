// SPDX-License-Identifier: BSD-3-Clause
// Reading and writing one connection.
#include "p2p/tcp/link.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <sys/socket.h>
#include <sys/uio.h>

namespace tutti::p2p::tcp {
namespace {

constexpr std::size_t read_budget = 4 << 20, write_budget = 4 << 20;   // then others have their turn
constexpr int most_parts = 32;                                         // of one vectored call

/// The parts of a frame that are not yet sent; returns how many there are.
int parts_of(std::byte const* header, std::byte const* data, std::size_t bytes, std::size_t sent, iovec* out) {
    int n = 0;
    if (sent < Frame::header_bytes) out[n++] = {const_cast<std::byte*>(header + sent), Frame::header_bytes - sent};
    std::size_t const at = sent > Frame::header_bytes ? sent - Frame::header_bytes : 0;
    if (at < bytes) out[n++] = {const_cast<std::byte*>(data + at), bytes - at};
    return n;
}

/// What the system says a broken connection is; it calls the end of the other process by several names.
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

bool Link::send(Frame const& frame, std::byte const* data, void* sender, bool passing) {
    Waiting w;
    frame.encode(w.header);
    w.data = data;
    w.bytes = frame.payload();
    w.sender = sender;
    bytes_.sent += w.size();
    if (state_ == State::open && queue_.empty()) w.sent = write(w);
    if (w.sent == w.size()) return true;
    if (passing || !sender) copy_data(w);
    queue_.push_back(std::move(w));
    want_out(true);
    return !sender;
}

void Link::copy_data(Waiting& w) {
    if (w.bytes == 0) return;
    w.own = std::make_unique_for_overwrite<std::byte[]>(w.bytes);
    std::memcpy(w.own.get(), w.data, w.bytes);
    w.data = w.own.get();
}

/// How many bytes of a frame leave at once. An error shows again when the link is polled: not in here, where the
/// caller is about to begin something.
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
    queue_.erase(w);
    return true;
}

bool Link::flush() {
    bool moved = false, more = true;
    for (std::size_t budget = write_budget / Frame::most_data; state_ == State::open && budget > 0; --budget) {
        if (queue_.empty() && !(more = handler_.refill(rank_))) break;
        moved = true;
        if (!queue_.empty() && !write_some()) break;
    }
    want_out(more);
    return moved;
}

/// False when the system takes no more now.
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
        queue_.pop_front();
        if (sender) handler_.written(sender);
    }
}

bool Link::read() {
    bool moved = false;
    for (std::size_t budget = read_budget; state_ == State::open;) {
        std::span<std::byte> const room = reader_.payload_left() != 0 ? handler_.room(rank_) : std::span<std::byte>{};
        iovec parts[2] = {{room.data(), room.size()}, {buffer_.data(), buffer_.size()}};
        ssize_t const result = room.empty() ? readv(socket_.get(), parts + 1, 1) : readv(socket_.get(), parts, 2);
        if (result < 0 && would_block(errno)) return moved;
        if (result <= 0) return ended(result == 0 ? 0 : errno), true;
        auto const n = static_cast<std::size_t>(result), straight = std::min(n, room.size());
        bytes_.received += n;
        moved = true;
        if (straight != 0) {
            reader_.skip(straight);
            handler_.payload(rank_, room.first(straight));
        }
        if (!take_bytes(buffer_.first(n - straight))) return true;
        // Fewer bytes than there was room for: there are no more.
        if (n < room.size() + buffer_.size() || budget <= n) return true;
        budget -= n;
    }
    return moved;
}

/// False when the link ended.
bool Link::take_bytes(std::span<std::byte const> in) {
    for (;;) {
        switch (reader_.next(in)) {
        case FrameReader::Event::more: return true;
        case FrameReader::Event::broken: return fail(reader_.complaint()), false;
        case FrameReader::Event::payload: handler_.payload(rank_, reader_.piece()); break;
        case FrameReader::Event::frame:
            if (heard_bye_) return fail("a frame came after the goodbye"), false;
            heard_bye_ = reader_.frame().kind == FrameKind::bye;
            if (char const* complaint = handler_.arrived(rank_, reader_.frame())) return fail(complaint), false;
        }
        if (state_ != State::open) return false;
    }
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
    said_bye_ = true;
    send({.kind = FrameKind::bye});
}

void Link::ended(int error) {
    if (heard_bye_) close();
    else fail(sentence_for(error));
}

void Link::close() {
    if (socket_) poller_.remove(socket_);
    socket_.reset();
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
