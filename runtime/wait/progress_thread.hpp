// SPDX-License-Identifier: BSD-3-Clause
// A thread that advances communication while the program computes. It rests while no operation is in progress or a
// thread of the program waits, and polls otherwise. After polls without progress it sleeps as ranks do
// (runtime/wait/wait.hpp): immediately, unless there are spare cores.
//
// While other ranks may send this rank requests at any time (Waiter::begin_service) it does not rest: it checks
// periodically whether the program itself still polls, and otherwise sleeps until something arrives, also on behalf
// of a thread of the program that sleeps in a wait. If requests may arrive by sockets, it sleeps in poll(2) on the
// descriptor that watches the sockets. That descriptor also reports everything that arrived earlier, so no arrival is
// lost between the poll and the sleep; stores of ranks of this node are then found by polling. The thread is not
// counted as a sleeper there, since otherwise every store of every rank of the node would search for ranks to wake.
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
    /// Starts the thread for the rank that waits by `waiter`, which must stay valid as long as the thread runs, and
    /// enables the rank's lock. Throws std::system_error, and changes nothing, if the system refuses to start a thread.
    explicit ProgressThread(Waiter& waiter);
    /// Same; returns null and the system's `error` if it refuses to start a thread.
    static std::unique_ptr<ProgressThread> start(Waiter& waiter, int& error);
    /// Ends the thread; the caller may hold the lock.
    ~ProgressThread();
    ProgressThread(ProgressThread const&) = delete;
    ProgressThread& operator=(ProgressThread const&) = delete;

    /// Wakes the thread if it rests, because an operation has started. Must be called with the lock held.
    void wake();
    /// Returns the thread's gettid(); 0: it has not begun yet.
    pid_t thread_id() const { return thread_id_.load(std::memory_order_relaxed); }

private:
    void run();
    bool progress();
    bool has_work() const;
    void rest();
    void sleep();
    void sleep_in_poll();

    Waiter& waiter_;
    RankLock& lock_;
    int const max_empty_polls_;               ///< polls without progress before it sleeps
    bool const polls_when_idle_;              ///< instead of resting until it is woken
    int idle_sleeps_ = 0;                     ///< consecutive
    bool resting_ = false, stop_ = false;     ///< protected by the lock
    std::atomic<std::uint32_t> wakeups_{0};   ///< futex word, counts wake-ups
    int end_event_ = -1;                      ///< an eventfd that becomes readable when the thread must end
    std::binary_semaphore may_begin_{0};      ///< released when the thread may begin
    std::atomic<pid_t> thread_id_{0};
    std::thread thread_;
};

}   // namespace tutti
