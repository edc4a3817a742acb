// SPDX-License-Identifier: BSD-3-Clause
// Flow-controlled streams: pipes of this process on one side, frames on the other.
#include "launcher/nodes/remote_streams.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace tutti::launcher {
namespace {

constexpr std::chrono::milliseconds show_here_after{50};   // the daemon has already waited

bool readable(int descriptor) {
    pollfd one{descriptor, POLLIN, 0};
    return poll(&one, 1, 0) > 0 && (one.revents & POLLIN) != 0;
}

}   // namespace

void Outgoing::watch(std::vector<pollfd>& set) const {
    if (pipe_ && room_ > 0) set.push_back({pipe_.get(), POLLIN, 0});
}

bool Outgoing::pump(std::function<void(std::string_view)> const& send) {
    char buffer[65536];
    while (pipe_ && room_ > 0) {
        pollfd one{pipe_.get(), POLLIN, 0};
        if (poll(&one, 1, 0) <= 0) return false;
        ssize_t const n = read(pipe_.get(), buffer, std::min<std::uint64_t>(room_, sizeof buffer));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            pipe_.reset();
            return true;
        }
        room_ -= static_cast<std::uint64_t>(n);
        send({buffer, static_cast<std::size_t>(n)});
    }
    return false;
}

bool Outgoing::empty() const { return !pipe_ || !readable(pipe_.get()); }

void IncomingLines::put(std::string text) {
    std::erase_if(expected_, [&](LastWords const& words) {
        bool const there = take_out(text, words);
        if (there) when_said_(*sink_, words);
        return there;
    });
    sink_->add(this, text);
    sink_->write_some();
}

void IncomingLines::add(std::string_view bytes) {
    owed_ += bytes.size();
    std::string lines;
    cutter_.add(bytes, lines);
    put(lines);
    came_ = std::chrono::steady_clock::now();
}

void IncomingLines::show_unfinished(std::chrono::steady_clock::time_point now) {
    if (!sink_->terminal() || !cutter_.has_unfinished() || now < came_ + show_here_after) return;
    std::string piece;
    cutter_.show_unfinished(piece);
    put(piece);
}

std::chrono::milliseconds IncomingLines::patience() const {
    return sink_->terminal() && cutter_.has_unfinished() ? show_here_after : std::chrono::hours(24);
}

void IncomingLines::finish() {
    std::string last;
    cutter_.finish(last);
    put(last);
}

std::uint64_t IncomingLines::take_room() { return sink_->full() && !sink_->broken() ? 0 : std::exchange(owed_, 0); }

bool IncomingLines::broke() { return sink_->broken() && !std::exchange(told_, true); }

IncomingBytes::IncomingBytes(Descriptor pipe) : pipe_(std::move(pipe)) { fcntl(pipe_.get(), F_SETFL, O_NONBLOCK); }

void IncomingBytes::watch(std::vector<pollfd>& set) const {
    if (pipe_ && !waiting_.empty()) set.push_back({pipe_.get(), POLLOUT, 0});
}

std::uint64_t IncomingBytes::pump() {
    std::size_t gone = 0;
    while (pipe_ && gone < waiting_.size()) {
        ssize_t const n = write(pipe_.get(), waiting_.data() + gone, waiting_.size() - gone);
        if (n > 0) gone += static_cast<std::size_t>(n);
        else if (errno == EAGAIN) break;
        else if (errno != EINTR) broken_ = true, pipe_.reset();
    }
    if (!pipe_) gone = waiting_.size();
    waiting_.erase(0, gone);
    if (ended_ && waiting_.empty()) pipe_.reset();
    return gone;
}

bool IncomingBytes::broke() { return broken_ && !std::exchange(told_, true); }

}   // namespace tutti::launcher
