// SPDX-License-Identifier: BSD-3-Clause
// A thread that moves everything on while the program computes. It rests while nothing is under way or a thread of the
// program waits, and polls, otherwise. What it polls in vain it goes to sleep over as ranks do (runtime/wait/wait.hpp):
// at once, unless there are cores to spare.
//
// While others may ask this rank for something at any time (Waiter::begin_service) it does not rest: it checks now and
// then whether the program still polls itself, and else sleeps until something comes, also for a thread of the program
// that sleeps in a wait. Where that may come by sockets, it
// sleeps in poll(2) on what the sockets are watched with. That tells of everything that came before as well, so no
// arrival is lost between the poll and the sleep; what ranks of this node store is then found by polling. It does not
// count as a sleeper there: else every store of every rank of the node would search whom to wake.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <semaphore>
#include <thread>

#include <sys/types.h>

namespace tutti {

class Waiter;
struct RankState;
class RankLock;

class ProgressThread {
public:
    /// For the rank that waits by `waiter`, which must outlive it; opens the rank's lock. Throws std::system_error, and
    /// changes nothing, where the system starts no thread.
    explicit ProgressThread(Waiter& waiter);
    /// The same; null, and the system's `error`, where it starts no thread.
    static std::unique_ptr<ProgressThread> start(Waiter& waiter, int& error);
    /// Ends it; the caller may be inside the lock.
    ~ProgressThread();
    ProgressThread(ProgressThread const&) = delete;
    ProgressThread& operator=(ProgressThread const&) = delete;

    /// There is something to do. Called inside the lock.
    void call();
    /// Its gettid(); 0: it has not begun yet.
    pid_t thread() const { return id_.load(std::memory_order_relaxed); }

private:
    void run();
    bool progress();
    bool wanted() const;
    void rest();
    void sleep();
    void sleep_at_sockets();

    Waiter& waiter_;
    RankLock& lock_;
    RankState& rank_state_;
    int const polls_;                       ///< in vain, before it sleeps
    bool const naps_;                       ///< instead of being called
    int idle_naps_ = 0;                     ///< in a row
    bool resting_ = false, stop_ = false;   ///< inside the lock
    std::atomic<std::uint32_t> work_{0};    ///< futex, counts calls
    int end_ = -1;                          ///< an eventfd, readable when it shall end
    std::binary_semaphore ready_{0};        ///< the thread may begin
    std::atomic<pid_t> id_{0};
    std::thread thread_;
};

}   // namespace tutti
