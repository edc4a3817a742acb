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

constexpr std::chrono::milliseconds remote_line_delay{50};   // the daemon has already waited

bool readable(int descriptor) {
    pollfd one{descriptor, POLLIN, 0};
    return poll(&one, 1, 0) > 0 && (one.revents & POLLIN) != 0;
}

}   // namespace

void OutgoingStream::watch(std::vector<pollfd>& set) const {
    if (pipe_ && credit_ > 0) set.push_back({pipe_.get(), POLLIN, 0});
}

bool OutgoingStream::pump(std::function<void(std::string_view)> const& send) {
    char buffer[65536];
    while (pipe_ && credit_ > 0) {
        pollfd one{pipe_.get(), POLLIN, 0};
        if (poll(&one, 1, 0) <= 0) return false;
        ssize_t const n = read(pipe_.get(), buffer, std::min<std::uint64_t>(credit_, sizeof buffer));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            pipe_.reset();
            return true;
        }
        credit_ -= static_cast<std::uint64_t>(n);
        send({buffer, static_cast<std::size_t>(n)});
    }
    return false;
}

bool OutgoingStream::empty() const { return !pipe_ || !readable(pipe_.get()); }

void IncomingLines::write_lines(std::string text) {
    std::erase_if(expected_, [&](RankAbortMessage const& message) {
        bool const found = remove_message_line(text, message);
        if (found) on_message_(*sink_, message);
        return found;
    });
    sink_->add(this, text);
    sink_->write_some();
}

void IncomingLines::add(std::string_view bytes) {
    unacknowledged_ += bytes.size();
    std::string lines;
    splitter_.add(bytes, lines);
    write_lines(lines);
    last_arrival_ = std::chrono::steady_clock::now();
}

void IncomingLines::show_unfinished(std::chrono::steady_clock::time_point now) {
    if (!sink_->terminal() || !splitter_.has_unfinished() || now < last_arrival_ + remote_line_delay) return;
    std::string piece;
    splitter_.show_unfinished(piece);
    write_lines(piece);
}

std::chrono::milliseconds IncomingLines::poll_timeout() const {
    return sink_->terminal() && splitter_.has_unfinished() ? remote_line_delay : std::chrono::hours(24);
}

void IncomingLines::finish() {
    std::string last;
    splitter_.finish(last);
    write_lines(last);
}

std::uint64_t IncomingLines::take_credit() {
    return sink_->full() && !sink_->broken() ? 0 : std::exchange(unacknowledged_, 0);
}

bool IncomingLines::take_broken() { return sink_->broken() && !std::exchange(broken_reported_, true); }

IncomingBytes::IncomingBytes(Descriptor pipe) : pipe_(std::move(pipe)) { fcntl(pipe_.get(), F_SETFL, O_NONBLOCK); }

void IncomingBytes::watch(std::vector<pollfd>& set) const {
    if (pipe_ && !pending_.empty()) set.push_back({pipe_.get(), POLLOUT, 0});
}

std::uint64_t IncomingBytes::pump() {
    std::size_t consumed = 0;
    while (pipe_ && consumed < pending_.size()) {
        ssize_t const n = write(pipe_.get(), pending_.data() + consumed, pending_.size() - consumed);
        if (n > 0) consumed += static_cast<std::size_t>(n);
        else if (errno == EAGAIN) break;
        else if (errno != EINTR) broken_ = true, pipe_.reset();
    }
    if (!pipe_) consumed = pending_.size();
    pending_.erase(0, consumed);
    if (ended_ && pending_.empty()) pipe_.reset();
    return consumed;
}

bool IncomingBytes::take_broken() { return broken_ && !std::exchange(broken_reported_, true); }

}   // namespace tutti::launcher
