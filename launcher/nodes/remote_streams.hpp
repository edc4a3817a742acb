// SPDX-License-Identifier: BSD-3-Clause
// Output and input between nodes, with flow control: each stream may have a limited number of bytes in transit, and
// more are sent when the other end has consumed some. Memory is bounded, and writers wait for readers as on one node.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <poll.h>

#include "launcher/supervise/lines.hpp"
#include "launcher/supervise/output.hpp"
#include "runtime/base/descriptor.hpp"

namespace tutti::launcher {

/// Sends bytes from a pipe of this process to another launcher.
class Outgoing {
public:
    Outgoing() = default;
    explicit Outgoing(Descriptor pipe) : pipe_(std::move(pipe)) {}

    void watch(std::vector<pollfd>& set) const;
    /// Reads what is available and fits. Returns true if the last writer has closed the pipe just now.
    bool pump(std::function<void(std::string_view)> const& send);
    /// Called when the other end has consumed `bytes` more.
    void taken(std::uint64_t bytes) { room_ += bytes; }
    /// Writers to the pipe then get a broken pipe, because the reader has gone.
    void close() { pipe_.reset(); }
    bool open() const { return static_cast<bool>(pipe_); }
    /// Returns true if the pipe holds no bytes.
    bool empty() const;

private:
    static constexpr std::uint64_t most = 256 * 1024;   ///< bytes in transit

    Descriptor pipe_;
    std::uint64_t room_ = most;   ///< bytes that may be sent now
};

/// Receives whole lines from another launcher for a sink of this process.
class IncomingLines {
public:
    /// `sink` must outlive this object.
    IncomingLines(Sink& sink, WhenSaid when_said) : sink_(&sink), when_said_(std::move(when_said)) {}

    void add(std::string_view bytes);
    /// Announces that the line of this message will arrive.
    void expect(LastWords words) { expected_.push_back(std::move(words)); }
    /// Shows an unfinished line that arrived a moment ago, if the sink is a terminal.
    void show_unfinished(std::chrono::steady_clock::time_point now);
    /// Returns the time after which show_unfinished must be called.
    std::chrono::milliseconds patience() const;
    /// Must be called when no more bytes will arrive.
    void finish();
    /// Returns the number of bytes consumed since it last returned any, which the sender may send again; 0 while the
    /// sink is full.
    std::uint64_t take_room();
    /// Returns true once, when the reader of the sink has gone.
    bool broke();

private:
    void put(std::string text);

    Sink* sink_;
    WhenSaid when_said_;
    std::vector<LastWords> expected_;
    LineCutter cutter_;
    std::chrono::steady_clock::time_point came_{};   ///< when bytes last arrived
    std::uint64_t owed_ = 0;                         ///< bytes consumed, but not acknowledged yet
    bool told_ = false;                              ///< `broke` has returned true
};

/// Receives bytes from another launcher for a pipe of this process.
class IncomingBytes {
public:
    IncomingBytes() = default;
    explicit IncomingBytes(Descriptor pipe);

    void add(std::string_view bytes) { waiting_ += bytes; }
    /// Closes the pipe once all bytes have been written.
    void end() { ended_ = true; }
    void watch(std::vector<pollfd>& set) const;
    /// Writes as much as possible. Returns the number of bytes consumed.
    std::uint64_t pump();
    /// Returns true once, when the reader of the pipe has gone.
    bool broke();

private:
    Descriptor pipe_;
    std::string waiting_;
    bool ended_ = false, broken_ = false, told_ = false;
};

}   // namespace tutti::launcher
