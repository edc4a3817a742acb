// SPDX-License-Identifier: BSD-3-Clause
// The threads of one rank that wait at the same time, and which of them leads.
//
// Each thread holds the rank's lock (runtime/wait/rank_lock.hpp) when it checks its condition and releases it when it
// yields or sleeps. One of them leads: it polls, also checks the conditions of the others, and calls those whose
// conditions are true; they sleep until then. A leader that leaves calls another thread, and a thread that starts to
// wait while the leader sleeps takes the lead.
//
// Why no thread sleeps on although its condition is true: a condition changes with the lock held, or by a store of
// another rank. A thread that changes one with the lock held checks all conditions before it releases the lock
// (note_change, wake_ready). The leader checks all of them for stores, between the steps (1) and (4) of sleepers.hpp.
// Therefore there must always be a leader: a leader that ends its wait calls another thread, and a called thread whose
// own condition is true calls the next. Where calls are omitted (most_needless_calls), a sleeping thread takes the lead
// itself within a millisecond.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/wait/sleepers.hpp"

namespace tutti {

/// All methods except note_change() must be called with the rank's lock held.
class WaitingThreads {
public:
    /// What other threads may know about a thread's wait; lies on that thread's stack.
    struct Wait {
        Wait(bool (*condition)(void*), void const* about, std::int64_t now)
            : ready(condition), what(const_cast<void*>(about)), start(now) {}

        bool (*const ready)(void*);
        void* const what;   ///< argument of `ready`
        void const* const thread = __builtin_thread_pointer();
        std::int64_t const start;
        bool asleep = false;                    ///< counted among the sleeping ranks
        bool followed = false;                  ///< has slept while another thread led
        bool shown = false;                     ///< published by the rank (runtime/wait/observers.hpp)
        bool at_rank_futex = false;             ///< sleeps where others wake the rank; otherwise at `called`
        int event = -1;                         ///< an eventfd that ends such a sleep in poll(2); −1: none
        std::atomic<std::uint32_t> called{0};   ///< futex word: 1 when the thread must check its condition itself
        Wait* next = nullptr;                   ///< next in the list of sleeping threads
    };

    explicit WaitingThreads(Sleepers& sleepers) : sleepers_(sleepers) {}

    Wait const* leader() const { return leader_; }
    bool leads(Wait const& wait) const { return leader_ == &wait; }
    /// Returns true if a thread of the program polls.
    bool polled() const { return leader_ && !leader_->asleep; }
    /// Returns true if any thread sleeps. first_asleep() is the one that has slept longest.
    bool any_asleep() const { return first_ != nullptr; }
    Wait const* first_asleep() const { return first_; }

    /// Makes `wait` the leader if possible; returns false if another thread leads. Nested waits of one thread, in a
    /// callback, count as one. A `fresh` wait relieves a leader that sleeps, or that has waited for long and is
    /// likely to continue; that leader is then called like the others, and the fresh one need not be.
    bool take_lead(Wait& wait, bool fresh);
    /// Makes `wait` the leader where there is none, for a wait that ends soon in any case.
    void lead(Wait& wait) { leader_ = &wait; }
    /// Ends a wait, and calls another thread if there is no leader now. Returns true if there is none.
    bool end(Wait& wait);

    /// Must enclose a thread's sleep.
    void enlist(Wait& wait);
    void delist(Wait& wait);
    /// Removes the rank's mark as sleeping.
    void get_up(Wait& wait) {
        wait.asleep = false;
        sleepers_.remove();
    }
    /// Returns how long a thread that follows a leader may sleep, at most `longest`.
    long longest_follow(Wait const& wait, long longest);

    /// Records a change that threads of this rank may wait for; it is checked before the lock is released.
    void note_change() { changed_.store(true, std::memory_order_relaxed); }
    bool changed() const { return changed_.load(std::memory_order_relaxed); }
    /// Calls the threads whose conditions are true or throw; they check the conditions themselves.
    void wake_ready();

private:
    void call_next();
    void call(Wait& wait);

    Sleepers& sleepers_;
    Wait* leader_ = nullptr;
    Wait* first_ = nullptr;    ///< first in the list of sleeping threads
    int needless_calls_ = 0;   ///< consecutive calls of a thread that then found another one leading
    std::atomic<bool> changed_{false};
};

}   // namespace tutti
