// SPDX-License-Identifier: BSD-3-Clause
// Bytes queued for another launcher, and the thread that sends heartbeats.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "runtime/base/descriptor.hpp"

namespace tutti::launcher {

/// A queue in front of a descriptor; its writers never block. The launcher's loop adds frames, the thread of Heartbeats
/// adds beats between them: all members may be called by any thread.
class Outbox {
public:
    explicit Outbox(Descriptor out);

    /// Appends whole frames, and writes as much as the descriptor accepts now.
    void add(std::string_view bytes);
    void write_some();
    /// Adds a beat unless bytes are queued. Queued bytes prove as well that this launcher is alive once they are sent,
    /// and a receiver that was stopped for long must not find thousands of beats.
    void add_beat();
    /// Discards queued bytes.
    void close();

    bool open() const;
    /// Returns true if nothing is queued, or nothing can be sent any more.
    bool empty() const;
    /// Returns the descriptor to be polled for room, or -1 while nothing is queued.
    int blocked_descriptor() const;

private:
    void write_locked();   ///< must be called with the lock held

    mutable std::mutex mutex_;
    Descriptor out_;
    std::string queue_;         ///< empty once everything has been written
    std::size_t written_ = 0;   ///< bytes of the queue
};

/// A thread that sends a beat on each outbox five times per second. The launcher's loop may be busy for seconds: with
/// debug information, with a program on a slow file system, or on a shared processor. The other launchers must not
/// consider it dead then.
///
/// Must be constructed after the last fork of this process; starting programs by vfork is permitted.
class Heartbeats {
public:
    /// Throws LaunchError if the thread cannot be started.
    Heartbeats();
    ~Heartbeats();

    /// Sends beats until the outbox is closed or destroyed.
    void add(std::weak_ptr<Outbox> outbox);

private:
    void run();

    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::weak_ptr<Outbox>> outboxes_;
    bool is_stopping_ = false;
    std::thread thread_;
};

}   // namespace tutti::launcher
