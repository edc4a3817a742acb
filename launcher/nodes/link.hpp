// SPDX-License-Identifier: BSD-3-Clause
// One launcher's connection with another: frames over two pipes, without ever waiting, and heartbeats, by which each
// knows that the other is there.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <poll.h>

#include "launcher/base/descriptor.hpp"
#include "launcher/nodes/frame.hpp"

namespace tutti::launcher {

/// How long the other end has been silent, as far as this process was awake to listen: time in which it was stopped, or
/// the whole machine asleep, does not count.
class Silence {
public:
    using Clock = std::chrono::steady_clock;
    /// Called each time round, after everything that had come was read.
    void look(Clock::time_point now);
    void heard() { length_ = {}; }
    Clock::duration length() const { return length_; }

private:
    Clock::time_point last_{};
    Clock::duration length_{};
};

class Link {
public:
    static constexpr std::chrono::milliseconds beat{200};

    Link() = default;
    Link(Descriptor in, Descriptor out);

    bool open() const { return static_cast<bool>(in_); }
    void close();

    /// The first thing that a daemon says.
    void greet();
    /// Queued, and written as far as it can be.
    void send(FrameType type, int node, std::string_view body = {});
    void send(Frame const& frame) { send(frame.type, frame.node, frame.body); }
    bool all_sent() const { return !out_ || queue_.empty(); }

    void watch(std::vector<pollfd>& set) const;
    /// Writes what waits and reads what is there, as bytes; false once the other end has closed.
    bool exchange(std::string& bytes);
    /// After exchange: beats, and counts the silence.
    void look(Silence::Clock::time_point now);
    Silence::Clock::duration silence() const { return silence_.length(); }
    std::chrono::milliseconds patience() const;

    FrameReader frames;   ///< of the bytes that came, given to it by whoever called exchange

private:
    void write_some();

    Descriptor in_, out_;
    std::string queue_;
    Silence silence_;
    Silence::Clock::time_point last_beat_{};
};

}   // namespace tutti::launcher
