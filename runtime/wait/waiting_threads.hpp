// SPDX-License-Identifier: BSD-3-Clause
// The threads of one rank that wait at the same time, and which of them leads.
//
// Each waits inside the rank's lock (runtime/wait/rank_lock.hpp) when it checks its condition, outside when it yields
// or sleeps. One of them leads: it polls, checks the conditions of the others, too, and calls those whose conditions
// are true; they sleep until then. A leader that leaves calls another thread, and a thread that starts to wait while
// the leader sleeps takes its place.
//
// Why no thread sleeps on although its condition is true: a condition changes inside the lock, or by a store of another
// rank. A thread that changes one inside the lock checks all conditions before it leaves (note_change, wake_ready). The
// leader checks all of them for stores, between the steps (1) and (4) of sleepers.hpp. So there must be a leader: a
// leader that ends its wait calls another thread, and a called thread whose own condition is true calls the next. Where
// calls are left out (most_needless_calls), a sleeping thread takes the lead itself within a millisecond.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/wait/sleepers.hpp"

namespace tutti {

/// Everything but note_change is called inside the rank's lock.
class WaitingThreads {
public:
    /// What the others may know of a thread's wait; it lies on that thread's stack.
    struct Wait {
        Wait(bool (*condition)(void*), void const* about, std::int64_t now)
            : ready(condition), what(const_cast<void*>(about)), start(now) {}

        bool (*const ready)(void*);
        void* const what;   ///< what `ready` is called with
        void const* const thread = __builtin_thread_pointer();
        std::int64_t const start;
        bool asleep = false;                    ///< marked among the sleeping ranks
        bool followed = false;                  ///< it has slept while another thread led
        bool shown = false;                     ///< among those that the rank shows (runtime/wait/observers.hpp)
        bool at_rank_futex = false;             ///< where it sleeps: where others wake the rank, or at `called`
        int event = -1;                         ///< an eventfd that ends the former, where poll(2) does; −1: none
        std::atomic<std::uint32_t> called{0};   ///< futex: 1 when it shall check its condition itself
        Wait* next = nullptr;                   ///< among those that sleep
    };

    explicit WaitingThreads(Sleepers& sleepers) : sleepers_(sleepers) {}

    Wait const* leader() const { return leader_; }
    bool leads(Wait const& wait) const { return leader_ == &wait; }
    /// A thread of the program polls.
    bool polled() const { return leader_ && !leader_->asleep; }
    /// Does any thread sleep? The oldest first.
    bool any_asleep() const { return first_ != nullptr; }
    Wait const* first_asleep() const { return first_; }

    /// Threads that wait one inside the other, in a callback, count as one. Who comes fresh relieves a leader that
    /// sleeps, or has waited for long and is likely to stay: that one is called like the others, the fresh one need not
    /// be. False: another one leads.
    bool take_lead(Wait& wait, bool fresh);
    /// Where there is no leader, for a wait that ends soon in any case.
    void lead(Wait& wait) { leader_ = &wait; }
    /// A wait is over: another thread is called if there is no leader now. Returns true if there is none.
    bool end(Wait& wait);

    /// Around a thread's sleep.
    void enlist(Wait& wait);
    void delist(Wait& wait);
    /// Takes the rank's mark among those that sleep away.
    void get_up(Wait& wait) {
        wait.asleep = false;
        sleepers_.remove();
    }
    /// How long a thread sleeps at most that follows a leader, at most `longest`.
    long longest_follow(Wait const& wait, long longest);

    /// Something has happened that threads of this rank may wait for: checked before the lock is left.
    void note_change() { changed_.store(true, std::memory_order_relaxed); }
    bool changed() const { return changed_.load(std::memory_order_relaxed); }
    /// Calls those whose conditions are true, or throw: they check them themselves.
    void wake_ready();

private:
    void call_next();
    void call(Wait& wait);

    Sleepers& sleepers_;
    Wait* leader_ = nullptr;
    Wait* first_ = nullptr;    ///< of those that sleep
    int needless_calls_ = 0;   ///< in a row, of a thread that then found another one leading
    std::atomic<bool> changed_{false};
};

}   // namespace tutti
