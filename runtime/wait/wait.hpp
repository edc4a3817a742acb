// SPDX-License-Identifier: BSD-3-Clause
// The one wait: the only place that spins, yields or sleeps. The caller gives a condition and a reason.
//
// Its parts: what is polled (pollable.hpp); when to poll, yield and sleep (spin_policy.hpp); sleeping ranks and waking
// them (sleepers.hpp); the threads of a rank that wait at the same time (waiting_threads.hpp); who observes calls and
// long waits (observers.hpp); and calls that check once, such as MPI_Test (polling.hpp).
#pragma once

#include <atomic>
#include <cstdint>
#include <type_traits>

#include "runtime/base/clock.hpp"
#include "runtime/base/flag.hpp"
#include "runtime/memory/segment.hpp"
#include "runtime/wait/observers.hpp"
#include "runtime/wait/pollable.hpp"
#include "runtime/wait/polling.hpp"
#include "runtime/wait/rank_lock.hpp"
#include "runtime/wait/reason.hpp"
#include "runtime/wait/sleepers.hpp"
#include "runtime/wait/spin_policy.hpp"
#include "runtime/wait/waiting_threads.hpp"

namespace tutti {

class ProgressThread;
class Home;
class Balance;

class Waiter {
public:
    /// `sleep_after_ms` 0: never sleeps. `learns` false: it does not adapt to other programs on its core. `segment` and
    /// the lock must outlive the waiter.
    Waiter(Segment const& segment, unsigned rank, WaitPolicy policy, long sleep_after_ms, RankLock& lock,
           bool learns = true);

    /// What to poll while waiting; a process has one or two (transport, operations in flight).
    void attach(Pollable* pollable) { polled_.attach(pollable); }
    void detach(Pollable* pollable) { polled_.detach(pollable); }

    /// `descriptor` becomes readable when there is something to poll that no rank of this node stores, such as messages
    /// of other nodes. Valid as long as anything is polled.
    void watch(int descriptor);
    /// From the first begin_service() to the last end_service() others may ask this rank for something at any time,
    /// also while nothing of its own is under way: the progress thread, if there is one, is always ready for that.
    /// `words`: they may be ranks of this node.
    void begin_service(bool words);
    void end_service(bool words);

    /// At the end of long waits, a rank may move to another NUMA node.
    void watch(Home& home) { home_ = &home; }
    /// There it may also move to another core, while it has one thread.
    void watch(Balance& balance) { balance_ = &balance; }

    /// Who observes this rank's calls and long waits.
    Observers& observers() { return observers_; }
    /// The calls that check once and found nothing.
    RepeatedTests& tests() { return tests_; }

    bool at_rest() const { return polled_.at_rest(); }
    /// Something is under way that no thread waits for yet: the progress thread, if there is one, moves it on.
    void started() {
        if (helper_) [[unlikely]]
            call_helper();
    }

    /// Moves everything attached on by one step.
    bool progress() {
        bool const moved = polled_.poll();
        if (moved) count_move();
        return moved;
    }
    /// Something that others may see or wait for has moved on, outside of progress(). While anything does, this rank is
    /// not reported as blocked.
    void count_move() {
        std::atomic<std::uint64_t>& moves = rank_state_.blocked.moves;
        // Release: a launcher that reads the count, and asks then, has the ranks that answer see what moved.
        moves.store(moves.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    }

    /// Returns when `ready()` is true; the lock is held from that check on. `ready` must be cheap and free of side
    /// effects other than progress of its own; any thread inside the lock may call it. `word`: the only word of the
    /// segment that it depends on, apart from stores that are followed by wake_sleepers() without a word; null: it
    /// depends on more.
    template <class Ready>
    void until(Ready&& ready, Reason const& why, std::atomic<std::uint64_t> const* word = nullptr) {
        for (int i = 0; i < first_polls_; ++i) {
            if (ready()) return;
            cpu_pause();
        }
        for (WaitLoop wait_loop(*this, why, erased(ready), &ready, word); !ready(); wait_loop.step())
            progress() ? wait_loop.moved() : void();
    }

    /// For calls that check once and return, such as MPI_Test: one step of progress. Where it finds nothing it may give
    /// the core away, for at most a millisecond after it could have it back, or sleep for at most 10 ms
    /// (runtime/wait/polling.hpp). `ready` as for `until`; this returns its last answer, for what it has found before
    /// may be gone after the lock was left. `call`: for reports of a program that only repeats such calls.
    template <class Ready>
    bool test(Ready&& ready, CallText const& call = {}) {
        if (ready()) return true;
        bool const alone = !shares_core() && !lock_.on();
        bool const moved = progress();
        if (!alone && threads_.any_asleep()) [[unlikely]]
            threads_.wake_ready();
        if (ready()) return true;
        tests_.count(call);
        if (alone && !tests_.idle()) [[likely]]
            return false;
        bool const gave =
            tests_.idle() ? nap_if_idle(erased(ready), &ready, call) : give_core_away(moved, erased(ready), &ready);
        return gave && (progress(), ready());
    }

    /// After something that only threads of this rank may wait for: wakes them before the caller leaves the lock.
    void wake_own_threads() { threads_.note_change(); }
    /// After a store that others may wait for: wakes the ranks of this node that sleep (usually none), and the threads
    /// of this rank before the caller leaves the lock.
    void wake_sleepers() {
        if (any_sleepers()) [[unlikely]]
            sleepers_.wake_all();
    }
    /// The same after a store to `word`, in the segment: ranks that wait for another word sleep on.
    void wake_sleepers(std::atomic<std::uint64_t> const& word) {
        if (any_sleepers()) [[unlikely]]
            sleepers_.wake_watchers(word);
    }
    /// The same after a store that concerns one rank of this node alone.
    void wake_rank(unsigned place) {
        if (any_sleepers()) [[unlikely]]
            sleepers_.wake_one(place);
    }

    /// Around a call where there may be several threads: into the lock, and out of it.
    void enter() { lock_.enter(); }
    void leave() {
        if (threads_.any_asleep() && threads_.changed()) [[unlikely]]
            threads_.wake_ready();
        lock_.leave();
    }
    /// Returns true if the program's calls must be enclosed in enter() and leave_call().
    bool around_calls() const { return lock_.on() || observers_.follow_calls(); }
    /// The same around a call of the program, for its observers as well.
    void enter(char const* call, void const* site);
    void leave_call();

    /// Counts how long the kernel let this thread wait for a core since the waiter was made by it.
    void count_run_delay();

    WaitPolicy policy() const { return policy_; }
    /// Ranks outnumber cores, or another thread has lately taken this rank's core: long polling does harm.
    bool shares_core() const { return policy_ == WaitPolicy::shared || lock_.contention.shared(); }
    /// How often a wait checks its condition before it moves everything attached on.
    int first_polls() const { return first_polls_; }

private:
    /// One long wait: polls, yields, sleeps, or follows another thread's lead, step by step; keeps the rank state's
    /// reason, and counts itself and its time there.
    class WaitLoop : private WaitingThreads::Wait {
    public:
        WaitLoop(Waiter& waiter, Reason const& why, bool (*condition)(void*), void const* about,
                 std::atomic<std::uint64_t> const* word = nullptr)
            : Wait(condition, about, now_ns()), waiter_(waiter), why_(why), word_(word),
              spin_(waiter.policy_, why.policy, waiter.sleep_after_ns_, waiter.long_polls_, start) {}
        ~WaitLoop() { finish(); }
        /// All of it for a call that checks once: sleeps, or follows another thread's lead, until the condition may be
        /// true or `longest` nanoseconds are over. It is no wait: not counted, and nothing is learned from it.
        void nap(long longest);
        /// Something arrived: more may follow immediately, so the next check comes without a sleep.
        void moved() {
            spin_.restart();
            if (asleep) waiter_.threads_.get_up(*this);
        }
        /// Between two checks of the condition; when it is about to sleep it first only marks, so that the conditions
        /// are checked between the mark and the sleep.
        void step() {
            WaitingThreads& threads = waiter_.threads_;
            if (threads.any_asleep()) [[unlikely]]
                threads.wake_ready();
            if (!threads.leads(*this) && !threads.take_lead(*this, !followed && spin_.fresh())) [[unlikely]]
                follow(waiter_.longest_sleep_ns_);
            else if (spin_.count_poll() || asleep) decide();
            else if (waiter_.lock_.wanted()) [[unlikely]] hand_over();
            else cpu_pause();
        }

    private:
        void follow(long longest);
        void decide();
        void hand_over();
        bool asked_again();
        void finish();
        void mark_asleep();
        void sleep(long longest);

        Waiter& waiter_;
        Reason const& why_;
        std::atomic<std::uint64_t> const* const word_;   ///< null: it waits for anything
        SpinPolicy spin_;
        std::uint32_t ticket_ = 0;
        bool nap_ = false;
    };
    friend class ProgressThread;

    using Condition = bool (*)(void*);
    template <class Ready>
    static Condition erased(Ready&) {
        return [](void* ready) -> bool { return (*static_cast<Ready*>(ready))(); };
    }

    bool nap_if_idle(Condition ready, void const* what, CallText const& call);
    bool give_core_away(bool moved, Condition ready, void const* what);
    bool any_sleepers() {
        wake_own_threads();
        return sleepers_.any();
    }
    void call_helper();
    bool yield();
    void consider_moving(std::int64_t now);
    std::uint32_t add_sleeper(std::atomic<std::uint64_t> const* word = nullptr);

    Segment const& segment_;
    RankState& rank_state_;
    RankLock& lock_;
    WaitPolicy const policy_;
    int const first_polls_;
    std::int64_t const sleep_after_ns_;
    long const longest_sleep_ns_;
    std::uint64_t const run_delay_before_;
    Pollables polled_;
    Sleepers sleepers_;
    WaitingThreads threads_{sleepers_};
    LongPolls long_polls_;
    Observers observers_;
    RepeatedTests tests_;
    ProgressThread* helper_ = nullptr;
    int descriptor_ = -1;                        ///< of watch(); −1: there is none
    int services_ = 0, services_by_words_ = 0;   ///< begun and not ended, and those of them that ranks of this node ask
    Home* home_ = nullptr;                       ///< null: the rank stays on its node
    Balance* balance_ = nullptr;                 ///< null: it moves to no other core by itself
};

}   // namespace tutti
