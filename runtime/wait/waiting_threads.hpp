// SPDX-License-Identifier: BSD-3-Clause
// The threads of one rank that wait at the same time, and which of them leads.
//
// Each thread holds the rank's lock (runtime/wait/rank_lock.hpp) when it checks its condition and releases it when it
// yields or sleeps. One of them leads: it polls, also checks the conditions of the others, and wakes those whose
// conditions are true; they sleep until then. A leader that leaves wakes another thread, and a thread that starts to
// wait while the leader sleeps takes the lead.
//
// Why no thread sleeps on although its condition is true: a condition changes with the lock held, or by a store of
// another rank. A thread that changes one with the lock held checks all conditions before it releases the lock
// (record_change, wake_ready). The leader checks all of them for stores, between the steps (1) and (4) of sleepers.hpp.
// Therefore there must always be a leader: a leader that ends its wait signals another thread, and a signalled thread
// whose own condition is true signals the next. Where signals are omitted (max_needless_signals), a sleeping thread
// takes the lead itself within a millisecond.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/wait/sleepers.hpp"

namespace tutti {

/// All methods except record_change() must be called with the rank's lock held.
class WaitingThreads {
public:
    /// What other threads may know about a thread's wait; lies on that thread's stack.
    struct WaitingThread {
        WaitingThread(bool (*condition)(void*), void const* argument, std::int64_t now)
            : ready(condition), context(const_cast<void*>(argument)), start(now) {}

        bool (*const ready)(void*);
        void* const context;   ///< argument of `ready`
        void const* const thread = __builtin_thread_pointer();
        std::int64_t const start;
        bool asleep = false;                       ///< counted among the sleeping ranks
        bool has_followed = false;                 ///< has slept while another thread led
        bool published = false;                    ///< published by the rank (runtime/wait/observers.hpp)
        bool sleeps_at_rank_futex = false;         ///< sleeps where others wake the rank; otherwise at `signalled`
        int event = -1;                            ///< an eventfd that ends such a sleep in poll(2); −1: none
        std::atomic<std::uint32_t> signalled{0};   ///< futex word: 1 when the thread must check its condition itself
        WaitingThread* next = nullptr;             ///< next in the list of sleeping threads
    };

    explicit WaitingThreads(Sleepers& sleepers) : sleepers_(sleepers) {}

    WaitingThread const* leader() const { return leader_; }
    bool is_leader(WaitingThread const& wait) const { return leader_ == &wait; }
    /// Returns true if a thread of the program polls.
    bool leader_polls() const { return leader_ && !leader_->asleep; }
    /// Returns true if any thread sleeps. first_asleep() is the one that has slept longest.
    bool any_asleep() const { return first_ != nullptr; }
    WaitingThread const* first_asleep() const { return first_; }

    /// Makes `wait` the leader if possible; returns false if another thread leads. Nested waits of one thread, in a
    /// callback, count as one. A `fresh` wait relieves a leader that sleeps, or that has waited for long and is
    /// likely to continue; that leader is then signalled like the others, and the fresh one need not be.
    bool take_lead(WaitingThread& wait, bool fresh);
    /// Makes `wait` the leader where there is none, for a wait that ends soon in any case.
    void set_leader(WaitingThread& wait) { leader_ = &wait; }
    /// Ends a wait, and signals another thread if there is no leader now. Returns true if there is none.
    bool end_wait(WaitingThread& wait);

    /// Must enclose a thread's sleep.
    void enlist(WaitingThread& wait);
    void delist(WaitingThread& wait);
    /// Removes the rank's mark as sleeping.
    void mark_awake(WaitingThread& wait) {
        wait.asleep = false;
        sleepers_.remove();
    }
    /// Returns how long a thread that follows a leader may sleep, at most `max_ns`.
    long max_follower_sleep(WaitingThread const& wait, long max_ns);

    /// Records a change that threads of this rank may wait for; it is checked before the lock is released.
    void record_change() { changed_.store(true, std::memory_order_relaxed); }
    bool changed() const { return changed_.load(std::memory_order_relaxed); }
    /// Signals the threads whose conditions are true or throw; they check the conditions themselves.
    void wake_ready();

private:
    void signal_new_leader();
    void signal(WaitingThread& wait);

    Sleepers& sleepers_;
    WaitingThread* leader_ = nullptr;
    WaitingThread* first_ = nullptr;   ///< first in the list of sleeping threads
    int needless_signals_ = 0;         ///< consecutive signals to a thread that then found another one leading
    std::atomic<bool> changed_{false};
};

}   // namespace tutti
