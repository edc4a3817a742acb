// SPDX-License-Identifier: BSD-3-Clause
// A thread that moves everything on while the program computes. It rests while nothing is under way or a thread of the
// program waits, and polls, otherwise. What it polls in vain it goes to sleep over as ranks do (runtime/wait/wait.hpp):
// at once, unless there are cores to spare.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

namespace tutti {

class Waiter;
struct RankState;
class RankLock;

class ProgressThread {
public:
    /// For the rank that waits by `waiter`, which must outlive it; opens the rank's lock.
    explicit ProgressThread(Waiter& waiter);
    /// Ends it; the caller may be inside the lock.
    ~ProgressThread();
    ProgressThread(ProgressThread const&) = delete;
    ProgressThread& operator=(ProgressThread const&) = delete;

    /// There is something to do. Called inside the lock.
    void call();

private:
    void run();
    bool wanted() const;
    void rest();
    void sleep();

    Waiter& waiter_;
    RankLock& lock_;
    RankState& rank_state_;
    int const polls_;                       ///< in vain, before it sleeps
    bool const naps_;                       ///< instead of being called
    int idle_naps_ = 0;                     ///< in a row
    bool resting_ = false, stop_ = false;   ///< inside the lock
    std::atomic<std::uint32_t> work_{0};    ///< futex, counts calls
    std::thread thread_;
};

}   // namespace tutti
