// SPDX-License-Identifier: BSD-3-Clause
// Reading, writing, beating.
#include "launcher/nodes/link.hpp"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

namespace tutti::launcher {
namespace {

void without_waiting(int descriptor) { fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK); }

}   // namespace

// A process that is awake looks every beat; the rest of a longer pause it was not there to listen.
void Silence::look(Clock::time_point now) {
    if (last_ != Clock::time_point{}) length_ += std::min<Clock::duration>(now - last_, 2 * Link::beat);
    last_ = now;
}

Link::Link(Descriptor in, Descriptor out) : in_(std::move(in)), out_(std::move(out)) {
    without_waiting(in_.get());
    without_waiting(out_.get());
}

void Link::close() {
    in_.reset();
    out_.reset();
    queue_.clear();
}

void Link::greet() {
    queue_ += handshake();
    write_some();
}

void Link::send(FrameType type, int node, std::string_view body) {
    if (!out_) return;
    queue_ += encoded(type, node, body);
    write_some();
}

void Link::write_some() {
    std::size_t written = 0;
    while (out_ && written < queue_.size()) {
        ssize_t const n = write(out_.get(), queue_.data() + written, queue_.size() - written);
        if (n > 0) written += static_cast<std::size_t>(n);
        else if (errno == EAGAIN) break;
        else if (errno != EINTR) out_.reset();   // what it still has to say can be read
    }
    queue_.erase(0, out_ ? written : queue_.size());
}

void Link::watch(std::vector<pollfd>& set) const {
    if (in_) set.push_back({in_.get(), POLLIN, 0});
    if (out_ && !queue_.empty()) set.push_back({out_.get(), POLLOUT, 0});
}

bool Link::exchange(std::string& bytes) {
    constexpr std::size_t at_once = 1 << 20;
    write_some();
    if (!in_) return false;
    char buffer[65536];
    while (bytes.size() < at_once) {
        ssize_t const n = read(in_.get(), buffer, sizeof buffer);
        if (n > 0) bytes.append(buffer, static_cast<std::size_t>(n));
        else if (n < 0 && errno == EINTR) continue;
        else if (n < 0 && errno == EAGAIN) break;
        else return !bytes.empty();
    }
    if (!bytes.empty()) silence_.heard();
    return true;
}

// Nothing is added to a queue that does not move: the other end may be stopped for long.
void Link::look(Silence::Clock::time_point now) {
    silence_.look(now);
    if (now < last_beat_ + beat) return;
    last_beat_ = now;
    if (queue_.empty()) send(FrameType::beat, -1);
}

std::chrono::milliseconds Link::patience() const {
    auto const left = std::chrono::ceil<std::chrono::milliseconds>(last_beat_ + beat - Silence::Clock::now());
    return std::max(std::chrono::milliseconds(0), left);
}

}   // namespace tutti::launcher
