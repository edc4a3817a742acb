// SPDX-License-Identifier: BSD-3-Clause
// The wait: the only place that spins, yields or sleeps. The caller supplies a condition and a reason.
//
// Its parts: what is polled (pollable.hpp); when to poll, yield and sleep (spin_policy.hpp); sleeping ranks and how
// they are woken (sleepers.hpp); the threads of a rank that wait at the same time (waiting_threads.hpp); observers of
// calls and long waits (observers.hpp); and calls that check once, such as MPI_Test (polling.hpp).
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
    /// `sleep_after_ms` 0: never sleeps. `learns` false: does not adapt to other programs on its core. `segment` and
    /// `lock` must outlive the waiter.
    Waiter(Segment const& segment, unsigned rank, WaitPolicy policy, long sleep_after_ms, RankLock& lock,
           bool learns = true);

    /// Adds something to poll while waiting; a process has one or two (transport, operations in progress).
    void attach(Pollable* pollable) { polled_.attach(pollable); }
    void detach(Pollable* pollable) { polled_.detach(pollable); }

    /// `descriptor` becomes readable when there is something to poll that no rank of this node stores, such as
    /// messages of other nodes. It must stay valid as long as anything is polled.
    void watch(int descriptor);
    /// Between the first begin_service() and the last end_service() other ranks may send this rank requests at any
    /// time, even while none of its own operations is in progress; the progress thread, if there is one, is always
    /// ready for them. `words`: they may be ranks of this node.
    void begin_service(bool words);
    void end_service(bool words);

    /// Lets the rank move to another NUMA node at the end of long waits.
    void watch(Home& home) { home_ = &home; }
    /// Lets the rank also move to another core then, while it has one thread.
    void watch(Balance& balance) { balance_ = &balance; }

    /// The observers of this rank's calls and long waits.
    Observers& observers() { return observers_; }
    /// Calls that check once and found nothing.
    RepeatedTests& tests() { return tests_; }

    bool at_rest() const { return polled_.at_rest(); }
    /// Announces an operation that no thread waits for yet: the progress thread, if there is one, advances it.
    void started() {
        if (helper_) [[unlikely]]
            call_helper();
    }

    /// Advances everything attached by one step. Returns true if anything advanced.
    bool progress() {
        bool const moved = polled_.poll();
        if (moved) count_move();
        return moved;
    }
    /// Records that something which others may see or wait for has advanced outside of progress(). While anything
    /// does, this rank is not reported as blocked.
    void count_move() {
        std::atomic<std::uint64_t>& moves = rank_state_.blocked.moves;
        // Release: if a launcher reads the count and then queries, the ranks that answer see what advanced.
        moves.store(moves.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    }

    /// Returns when `ready()` is true; the lock is held without interruption from that check on. `ready` must be
    /// cheap and free of side effects other than progress of its own; any thread that holds the lock may call it.
    /// `word`: the only word of the segment that it depends on, apart from stores that are followed by
    /// wake_sleepers() without a word; null: it depends on more.
    template <class Ready>
    void until(Ready&& ready, Reason const& why, std::atomic<std::uint64_t> const* word = nullptr) {
        for (int i = 0; i < first_polls_; ++i) {
            if (ready()) return;
            cpu_pause();
        }
        for (WaitLoop wait_loop(*this, why, erased(ready), &ready, word); !ready(); wait_loop.step())
            progress() ? wait_loop.moved() : void();
    }

    /// Makes one step of progress, for calls that check once and return, such as MPI_Test. If it finds nothing it may
    /// give up the core, which it takes back at most a millisecond after the core is free again, or sleep for at most
    /// 10 ms (runtime/wait/polling.hpp). `ready` as for `until`; returns its last result, because an earlier finding
    /// may be gone after the lock was released. `call`: for reports about a program that only repeats such calls.
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

    /// Must be called after a change that only threads of this rank may wait for: they are woken before the caller
    /// releases the lock.
    void wake_own_threads() { threads_.note_change(); }
    /// Must be called after a store that others may wait for: wakes the sleeping ranks of this node (usually none),
    /// and the threads of this rank before the caller releases the lock.
    void wake_sleepers() {
        if (any_sleepers()) [[unlikely]]
            sleepers_.wake_all();
    }
    /// Same after a store to `word`, in the segment: ranks that wait for another word are not woken.
    void wake_sleepers(std::atomic<std::uint64_t> const& word) {
        if (any_sleepers()) [[unlikely]]
            sleepers_.wake_watchers(word);
    }
    /// Same after a store that concerns one rank of this node alone.
    void wake_rank(unsigned place) {
        if (any_sleepers()) [[unlikely]]
            sleepers_.wake_one(place);
    }

    /// Enters and leaves the lock around a call, if there may be several threads.
    void enter() { lock_.enter(); }
    void leave() {
        if (threads_.any_asleep() && threads_.changed()) [[unlikely]]
            threads_.wake_ready();
        lock_.leave();
    }
    /// Returns true if the program's calls must be enclosed in enter() and leave_call().
    bool around_calls() const { return lock_.on() || observers_.follow_calls(); }
    /// Same around a call of the program, including its observers.
    void enter(char const* call, void const* site);
    void leave_call();

    /// Records how long the calling thread was ready but not running since it constructed the waiter, according to
    /// the kernel.
    void count_run_delay();

    WaitPolicy policy() const { return policy_; }
    /// Returns true if ranks outnumber cores, or another thread has recently taken this rank's core: long polling
    /// does harm.
    bool shares_core() const { return policy_ == WaitPolicy::shared || lock_.contention.shared(); }
    /// Returns how often a wait checks its condition before it calls progress().
    int first_polls() const { return first_polls_; }

private:
    /// One long wait: polls, yields, sleeps, or follows another thread's lead, step by step. Publishes its reason,
    /// and counts itself and its duration in the rank state.
    class WaitLoop : private WaitingThreads::Wait {
    public:
        WaitLoop(Waiter& waiter, Reason const& why, bool (*condition)(void*), void const* about,
                 std::atomic<std::uint64_t> const* word = nullptr)
            : Wait(condition, about, now_ns()), waiter_(waiter), why_(why), word_(word),
              spin_(waiter.policy_, why.policy, waiter.sleep_after_ns_, waiter.long_polls_, start) {}
        ~WaitLoop() { finish(); }
        /// The whole wait of a call that checks once: sleeps, or follows another thread's lead, until the condition
        /// may be true or `longest` nanoseconds have passed. It is not counted as a wait, and nothing is learned from
        /// it.
        void nap(long longest);
        /// Records an arrival: more may follow immediately, so the next check comes without a sleep.
        void moved() {
            spin_.restart();
            if (asleep) waiter_.threads_.get_up(*this);
        }
        /// Called between two checks of the condition. Before it sleeps it first only marks the rank, so that the
        /// conditions are checked between the mark and the sleep.
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
        std::atomic<std::uint64_t> const* const word_;   ///< null: waits for anything
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
    int descriptor_ = -1;                        ///< set by watch(); −1: none
    int services_ = 0, services_by_words_ = 0;   ///< services in progress, and those that ranks of this node may use
    Home* home_ = nullptr;                       ///< null: the rank stays on its NUMA node
    Balance* balance_ = nullptr;                 ///< null: the rank does not move to another core by itself
};

}   // namespace tutti
