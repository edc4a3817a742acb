// SPDX-License-Identifier: BSD-3-Clause
// Bytes on their way to another launcher, and the thread that shows it that this launcher is alive.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "launcher/base/descriptor.hpp"

namespace tutti::launcher {

/// A queue in front of a descriptor that never blocks its writers. The launcher's loop adds frames, the thread of
/// Heartbeats adds beats in between: all members may be called by any thread.
class Outbox {
public:
    explicit Outbox(Descriptor out);

    /// Appends whole frames, and writes as much as the descriptor takes now.
    void add(std::string_view bytes);
    void write_some();
    /// A beat, unless something waits: that shows as much once it goes, and a receiver that is stopped for long must
    /// not find thousands of beats.
    void beat();
    /// What waits is dropped.
    void close();

    bool open() const;
    /// Nothing waits, or nothing can be sent any more.
    bool empty() const;
    /// The descriptor to poll for room; -1 while nothing waits.
    int awaits_room() const;

private:
    void write_now();   ///< with the lock held

    mutable std::mutex mutex_;
    Descriptor out_;
    std::string queue_;         ///< empty when all of it was written
    std::size_t written_ = 0;   ///< of it
};

/// A thread that sends a beat by each outbox five times a second. The launcher's loop may be busy for seconds: with
/// debug information, with a program on a slow file system, on a processor that others use. The other launchers must
/// not take that for the end of this one.
///
/// To be made when this process has forked for the last time; starting programs by vfork is all right.
class Heartbeats {
public:
    /// Throws Complaint when there is no thread.
    Heartbeats();
    ~Heartbeats();

    /// Until the outbox is closed or destroyed.
    void add(std::weak_ptr<Outbox> outbox);

private:
    void run();

    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::weak_ptr<Outbox>> outboxes_;
    bool over_ = false;
    std::thread thread_;
};

}   // namespace tutti::launcher
