// SPDX-License-Identifier: BSD-3-Clause
// Forwards standard input to ranks and to other nodes.
#include "launcher/supervise/input.hpp"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

namespace tutti::launcher {

Input::Input(InputTarget to, std::vector<int> const& ranks, std::vector<int> const& remote_nodes)
    : to_(to), null_device_(open("/dev/null", O_RDWR | O_CLOEXEC)) {
    terminal_ = isatty(STDIN_FILENO) == 1;
    bool const all = to.kind == InputTarget::Kind::all, one = to.kind == InputTarget::Kind::one;
    std::vector<int> readers;
    for (int rank : ranks)
        if (all || (one && to.rank == rank)) readers.push_back(rank);
    forwarding_ = !remote_nodes.empty() || readers.size() > 1 || (readers.size() == 1 && terminal_);
    if (!forwarding_) return;
    for (int node : remote_nodes) readers.push_back(-1 - node);
    for (int reader : readers) {
        Pipe pipe = Pipe::make();
        fcntl(pipe.write.get(), F_SETFL, O_NONBLOCK);
        readers_.push_back({reader, std::move(pipe.read), std::move(pipe.write), 0});
    }
}

Descriptor Input::take_pipe_for(int node) {
    for (Reader& reader : readers_)
        if (reader.rank == -1 - node) return std::move(reader.read);
    return {};
}

int Input::descriptor_for(int rank) const {
    for (Reader const& reader : readers_)
        if (reader.rank == rank) return reader.read.get();
    bool inherits = to_.kind == InputTarget::Kind::all || (to_.kind == InputTarget::Kind::one && to_.rank == rank);
    return inherits && !forwarding_ ? STDIN_FILENO : null_device_.get();
}

void Input::ranks_are_started() {
    for (Reader& reader : readers_) reader.read.reset();
    null_device_.reset();
}

bool Input::all_written() const {
    return std::all_of(readers_.begin(), readers_.end(), [&](Reader const& r) { return r.written == text_.size(); });
}

bool Input::in_background() const {
    return forwarding_ && terminal_ && !ended_ && tcgetpgrp(STDIN_FILENO) != getpgrp();
}

void Input::watch(std::vector<pollfd>& set) const {
    if (!forwarding_ || readers_.empty()) return;
    if (all_written() && !ended_ && !in_background()) set.push_back({STDIN_FILENO, POLLIN, 0});
    for (Reader const& reader : readers_)
        if (reader.written < text_.size()) set.push_back({reader.write.get(), POLLOUT, 0});
}

void Input::serve(std::vector<pollfd> const& set) {
    if (!forwarding_) return;
    bool readable =
        std::any_of(set.begin(), set.end(), [](pollfd const& p) { return p.fd == STDIN_FILENO && p.revents; });
    if (readable && all_written() && !in_background()) read_more();
    for (Reader& reader : readers_) feed(reader);
    std::erase_if(readers_, [](Reader const& r) { return !r.write; });
}

void Input::read_more() {
    char buffer[65536];
    ssize_t n = read(STDIN_FILENO, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) return;
    text_.assign(buffer, n > 0 ? static_cast<std::size_t>(n) : 0);
    for (Reader& reader : readers_) reader.written = 0;
    ended_ = n <= 0;
}

void Input::feed(Reader& reader) {
    while (reader.written < text_.size()) {
        ssize_t n = write(reader.write.get(), text_.data() + reader.written, text_.size() - reader.written);
        if (n >= 0) reader.written += static_cast<std::size_t>(n);
        else if (errno == EAGAIN) return;
        else if (errno != EINTR) return reader.write.reset();   // the reader has closed its end
    }
    if (ended_) reader.write.reset();
}

}   // namespace tutti::launcher
