// SPDX-License-Identifier: BSD-3-Clause
// Output and input between nodes. Each stream has room for so many bytes under way; more is sent when the other end has
// taken some, so memory stays bounded and whoever writes waits for whoever reads, as on one node.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <poll.h>

#include "launcher/base/descriptor.hpp"
#include "launcher/streams/lines.hpp"
#include "launcher/streams/output.hpp"

namespace tutti::launcher {

/// From a pipe of this process to another launcher.
class Outgoing {
public:
    Outgoing() = default;
    explicit Outgoing(Descriptor pipe) : pipe_(std::move(pipe)) {}

    void watch(std::vector<pollfd>& set) const;
    /// Reads what is there and fits; true when the pipe has been closed by its last writer just now.
    bool pump(std::function<void(std::string_view)> const& send);
    void taken(std::uint64_t bytes) { room_ += bytes; }
    /// Whoever writes into the pipe is to see that nobody reads it.
    void close() { pipe_.reset(); }
    bool open() const { return static_cast<bool>(pipe_); }
    /// Nothing is in the pipe.
    bool empty() const;

private:
    static constexpr std::uint64_t most = 256 * 1024;

    Descriptor pipe_;
    std::uint64_t room_ = most;
};

/// From another launcher, by whole lines, to a sink of this process.
class IncomingLines {
public:
    IncomingLines(Sink& sink, WhenSaid when_said) : sink_(&sink), when_said_(std::move(when_said)) {}

    void add(std::string_view bytes);
    /// The line of these words is on its way.
    void expect(LastWords words) { expected_.push_back(std::move(words)); }
    /// On a terminal, what has come a moment ago and is no whole line.
    void show_unfinished(std::chrono::steady_clock::time_point now);
    std::chrono::milliseconds patience() const;
    /// Nothing more comes.
    void finish();
    /// Bytes for which there is room again since it was asked last.
    std::uint64_t take_room();
    /// True once: nobody reads the sink any more.
    bool broke();

private:
    void put(std::string text);

    Sink* sink_;
    WhenSaid when_said_;
    std::vector<LastWords> expected_;
    LineCutter cutter_;
    std::chrono::steady_clock::time_point came_{};
    std::uint64_t owed_ = 0;
    bool told_ = false;
};

/// From another launcher into a pipe of this process.
class IncomingBytes {
public:
    IncomingBytes() = default;
    explicit IncomingBytes(Descriptor pipe);

    void add(std::string_view bytes) { waiting_ += bytes; }
    void end() { ended_ = true; }
    void watch(std::vector<pollfd>& set) const;
    /// Writes what can be written; the number of bytes that have gone.
    std::uint64_t pump();
    /// True once: nobody reads the pipe any more.
    bool broke();

private:
    Descriptor pipe_;
    std::string waiting_;
    bool ended_ = false, broken_ = false, told_ = false;
};

}   // namespace tutti::launcher
