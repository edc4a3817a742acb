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

#include "launcher/base/proc.hpp"
#include "launcher/supervise/lines.hpp"
#include "launcher/supervise/output.hpp"

namespace tutti::launcher {

/// Sends bytes from a pipe of this process to another launcher.
class OutgoingStream {
public:
    OutgoingStream() = default;
    explicit OutgoingStream(Descriptor pipe) : pipe_(std::move(pipe)) {}

    void watch(std::vector<pollfd>& set) const;
    /// Reads what is available and fits. Returns true if the last writer has closed the pipe just now.
    bool pump(std::function<void(std::string_view)> const& send);
    /// Called when the other end has consumed `bytes` more.
    void add_credit(std::uint64_t bytes) { credit_ += bytes; }
    /// Writers to the pipe then get a broken pipe, because the reader has gone.
    void close() { pipe_.reset(); }
    bool open() const { return static_cast<bool>(pipe_); }
    /// Returns true if the pipe holds no bytes.
    bool empty() const;

private:
    static constexpr std::uint64_t max_in_transit = 256 * 1024;   ///< bytes in transit

    Descriptor pipe_;
    std::uint64_t credit_ = max_in_transit;   ///< bytes that may be sent now
};

/// Receives whole lines from another launcher for a sink of this process.
class IncomingLines {
public:
    /// `sink` must stay valid as long as this object.
    IncomingLines(Sink& sink, OnAbortMessage on_message) : sink_(&sink), on_message_(std::move(on_message)) {}

    void add(std::string_view bytes);
    /// Announces that the line of this message will arrive.
    void expect(RankAbortMessage message) { expected_.push_back(std::move(message)); }
    /// Shows an unfinished line that arrived a moment ago, if the sink is a terminal.
    void show_unfinished(std::chrono::steady_clock::time_point now);
    /// Returns the time after which show_unfinished must be called.
    std::chrono::milliseconds poll_timeout() const;
    /// Must be called when no more bytes will arrive.
    void finish();
    /// Returns the number of bytes consumed since it last returned any, which the sender may send again; 0 while the
    /// sink is full.
    std::uint64_t take_credit();
    /// Returns true once, when the reader of the sink has gone.
    bool take_broken();

private:
    void write_lines(std::string text);

    Sink* sink_;
    OnAbortMessage on_message_;
    std::vector<RankAbortMessage> expected_;
    LineSplitter splitter_;
    std::chrono::steady_clock::time_point last_arrival_{};   ///< when bytes last arrived
    std::uint64_t unacknowledged_ = 0;                       ///< bytes consumed, but not acknowledged yet
    bool broken_reported_ = false;                           ///< `take_broken` has returned true
};

/// Receives bytes from another launcher for a pipe of this process.
class IncomingBytes {
public:
    IncomingBytes() = default;
    explicit IncomingBytes(Descriptor pipe);

    void add(std::string_view bytes) { pending_ += bytes; }
    /// Closes the pipe once all bytes have been written.
    void end() { ended_ = true; }
    void watch(std::vector<pollfd>& set) const;
    /// Writes as much as possible. Returns the number of bytes consumed.
    std::uint64_t pump();
    /// Returns true once, when the reader of the pipe has gone.
    bool take_broken();

private:
    Descriptor pipe_;
    std::string pending_;
    bool ended_ = false, broken_ = false, broken_reported_ = false;
};

}   // namespace tutti::launcher
