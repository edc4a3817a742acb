// SPDX-License-Identifier: BSD-3-Clause
// One launcher's connection with another: frames over two pipes, without ever waiting, and how long the other one has
// been silent.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <poll.h>

#include "launcher/base/descriptor.hpp"
#include "launcher/nodes/frame.hpp"
#include "launcher/nodes/outbox.hpp"

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
    Clock::time_point looked() const { return last_; }

private:
    Clock::time_point last_{};
    Clock::duration length_{};
};

class Link {
public:
    static constexpr std::chrono::milliseconds beat{200};   ///< between two signs of life

    Link() = default;
    Link(Descriptor in, Descriptor out);

    bool open() const { return static_cast<bool>(in_); }
    void close();

    /// From now on the other end sees that this launcher is alive, whatever its loop does.
    void keep_alive(Heartbeats& heartbeats) { heartbeats.add(out_); }
    /// The first thing that a daemon says.
    void greet() { out_->add(handshake()); }
    /// Queued, and written as far as it can be.
    void send(FrameType type, int node, std::string_view body = {});
    void send(Frame const& frame) { send(frame.type, frame.node, frame.body); }
    bool all_sent() const { return !out_ || out_->empty(); }

    void watch(std::vector<pollfd>& set) const;
    /// Writes what waits and reads what is there, as bytes; false once the other end has closed.
    bool exchange(std::string& bytes);
    /// After exchange: counts the silence.
    void look(Silence::Clock::time_point now) { silence_.look(now); }
    Silence::Clock::duration silence() const { return silence_.length(); }
    /// When it is time to look again.
    std::chrono::milliseconds patience() const;

    FrameReader frames;   ///< of the bytes that came, given to it by the caller of exchange

private:
    Descriptor in_;
    std::shared_ptr<Outbox> out_;
    Silence silence_;
};

}   // namespace tutti::launcher
