// SPDX-License-Identifier: BSD-3-Clause
// Reading, writing, counting silence.
#include "launcher/nodes/link.hpp"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

namespace tutti::launcher {

// A process that is awake looks every beat. Of a longer pause the rest does not count: it could not listen.
void Silence::look(Clock::time_point now) {
    if (last_ != Clock::time_point{}) length_ += std::min<Clock::duration>(now - last_, 2 * Link::beat);
    last_ = now;
}

Link::Link(Descriptor in, Descriptor out) : in_(std::move(in)), out_(std::make_shared<Outbox>(std::move(out))) {
    fcntl(in_.get(), F_SETFL, fcntl(in_.get(), F_GETFL) | O_NONBLOCK);
}

void Link::close() {
    in_.reset();
    if (out_) out_->close();
}

void Link::send(FrameType type, int node, std::string_view body) {
    if (out_) out_->add(encoded(type, node, body));
}

void Link::watch(std::vector<pollfd>& set) const {
    if (in_) set.push_back({in_.get(), POLLIN, 0});
    if (int const full = out_ ? out_->awaits_room() : -1; full >= 0) set.push_back({full, POLLOUT, 0});
}

bool Link::exchange(std::string& bytes) {
    constexpr std::size_t at_once = 1 << 20;
    if (!in_) return false;
    out_->write_some();
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

std::chrono::milliseconds Link::patience() const {
    auto const left = std::chrono::ceil<std::chrono::milliseconds>(silence_.looked() + beat - Silence::Clock::now());
    return std::max(std::chrono::milliseconds(0), left);
}

}   // namespace tutti::launcher
