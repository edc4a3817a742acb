// SPDX-License-Identifier: BSD-3-Clause
// The wait: the only place that spins, yields or sleeps. The caller supplies a condition and a reason.
//
// Its parts: what is polled (pollable.hpp); when to poll, yield and sleep (spin_policy.hpp); sleeping ranks and how
// they are woken (sleepers.hpp); the threads of a rank that wait at the same time (waiting_threads.hpp); observers of
// calls and long waits (observers.hpp); and what the rank publishes about long waits, and about calls that check once,
// such as MPI_Test (blocked_waits.hpp).
#pragma once

#include <atomic>
#include <cstdint>
#include <type_traits>

#include "runtime/base/clock.hpp"
#include "runtime/base/flag.hpp"
#include "runtime/memory/segment.hpp"
#include "runtime/wait/blocked_waits.hpp"
#include "runtime/wait/observers.hpp"
#include "runtime/wait/pollable.hpp"
#include "runtime/wait/rank_lock.hpp"
#include "runtime/wait/reason.hpp"
#include "runtime/wait/sleepers.hpp"
#include "runtime/wait/spin_policy.hpp"
#include "runtime/wait/waiting_threads.hpp"

namespace tutti {

class ProgressThread;
class NumaHome;
class CoreBalancer;

class Waiter {
public:
    /// `sleep_after_ms` 0: never sleeps. `adapts` false: does not adapt to other programs on its core. `segment` and
    /// `lock` must stay valid as long as the waiter.
    Waiter(Segment const& segment, unsigned rank, WaitPolicy policy, long sleep_after_ms, RankLock& lock,
           bool adapts = true);

    /// Adds something to poll while waiting; a process has one or two (transport, operations in progress).
    void attach(Pollable* pollable) { pollables_.attach(pollable); }
    void detach(Pollable* pollable) { pollables_.detach(pollable); }

    /// `descriptor` becomes readable when there is something to poll that no rank of this node stores, such as
    /// messages of other nodes. It must stay valid as long as anything is polled.
    void set_poll_descriptor(int descriptor);
    /// Between the first begin_service() and the last end_service() other ranks may send this rank requests at any
    /// time, even while none of its own operations is in progress; the progress thread, if there is one, is always
    /// ready for them. `local`: they may be ranks of this node.
    void begin_service(bool local);
    void end_service(bool local);

    /// Lets the rank move to another NUMA node at the end of long waits.
    void set_numa_home(NumaHome& home) { numa_home_ = &home; }
    /// Lets the rank also move to another core then, while it has one thread.
    void set_core_balancer(CoreBalancer& balancer) { core_balancer_ = &balancer; }

    /// The observers of this rank's calls and long waits.
    Observers& observers() { return observers_; }
    /// Calls that check once and found nothing.
    RepeatedTests& repeated_tests() { return repeated_tests_; }

    bool is_quiescent() const { return pollables_.is_quiescent(); }
    /// Announces an operation that no thread waits for yet: the progress thread, if there is one, advances it.
    void announce_operation() {
        if (progress_thread_) [[unlikely]]
            wake_progress_thread();
    }

    /// Advances everything attached by one step. Returns true if anything advanced.
    bool progress() {
        bool const moved = pollables_.poll();
        if (moved) count_progress();
        return moved;
    }
    /// Records that something which others may see or wait for has advanced outside of progress(). While anything
    /// does, this rank is not reported as blocked.
    void count_progress() {
        std::atomic<std::uint64_t>& progress_count = rank_state_.blocked.progress_count;
        // Release: if a launcher reads the count and then queries, the ranks that answer see what advanced.
        progress_count.store(progress_count.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    }

    /// Returns when `ready()` is true; the lock is held without interruption from that check on. `ready` must be
    /// cheap and free of side effects other than progress of its own; any thread that holds the lock may call it.
    /// `word`: the only word of the segment that it depends on, apart from stores that are followed by
    /// wake_sleepers() without a word; null: it depends on more.
    template <class Ready>
    void wait_until(Ready&& ready, Reason const& reason, std::atomic<std::uint64_t> const* word = nullptr) {
        for (int i = 0; i < initial_polls_; ++i) {
            if (ready()) return;
            cpu_pause();
        }
        for (WaitLoop wait_loop(*this, reason, type_erased(ready), &ready, word); !ready(); wait_loop.step())
            progress() ? wait_loop.on_arrival() : void();
    }

    /// Makes one step of progress, for calls that check once and return, such as MPI_Test. If it finds nothing it may
    /// release the core, which it gets back at most a millisecond after the core is free again, or sleep for at most
    /// 10 ms (runtime/wait/blocked_waits.hpp). `ready` as for wait_until(); returns its last result, because an earlier
    /// result may be outdated after the lock was released. `call`: for reports about a program that only repeats such
    /// calls.
    template <class Ready>
    bool test(Ready&& ready, CallText const& call = {}) {
        if (ready()) return true;
        bool const alone = !shares_core() && !lock_.is_enabled();
        bool const moved = progress();
        if (!alone && threads_.any_asleep()) [[unlikely]]
            threads_.wake_ready();
        if (ready()) return true;
        repeated_tests_.record_empty_test(call);
        if (alone && !repeated_tests_.program_is_idle()) [[likely]]
            return false;
        bool const released = repeated_tests_.program_is_idle() ? sleep_if_idle(type_erased(ready), &ready, call)
                                                                : release_core(moved, type_erased(ready), &ready);
        return released && (progress(), ready());
    }

    /// Must be called after a change that only threads of this rank may wait for: they are woken before the caller
    /// releases the lock.
    void wake_own_threads() { threads_.record_change(); }
    /// Must be called after a store that others may wait for: wakes the sleeping ranks of this node (usually none),
    /// and the threads of this rank before the caller releases the lock.
    void wake_sleepers() {
        if (must_wake_ranks()) [[unlikely]]
            sleepers_.wake_all_ranks();
    }
    /// Same after a store to `word`, in the segment: ranks that wait for another word are not woken.
    void wake_sleepers(std::atomic<std::uint64_t> const& word) {
        if (must_wake_ranks()) [[unlikely]]
            sleepers_.wake_waiters(word);
    }
    /// Same after a store that concerns one rank of this node alone.
    void wake_rank(unsigned local_rank) {
        if (must_wake_ranks()) [[unlikely]]
            sleepers_.wake_rank(local_rank);
    }

    /// Enters and leaves the lock around a call, if there may be several threads.
    void enter() { lock_.enter(); }
    void leave() {
        if (threads_.any_asleep() && threads_.changed()) [[unlikely]]
            threads_.wake_ready();
        lock_.leave();
    }
    /// Returns true if the program's calls must be enclosed in enter() and leave_call().
    bool must_wrap_calls() const { return lock_.is_enabled() || observers_.observes_calls(); }
    /// Same around a call of the program, including its observers.
    void enter(Function function, void const* site);
    void leave_call();

    /// Records how long the calling thread was ready but not running since it constructed the waiter, according to
    /// the kernel.
    void record_run_delay();

    WaitPolicy policy() const { return policy_; }
    /// Returns true if ranks outnumber cores, or another thread has recently taken this rank's core: long polling
    /// does harm.
    bool shares_core() const { return policy_ == WaitPolicy::shared || lock_.contention.is_shared(); }
    /// Returns how often a wait checks its condition before it calls progress().
    int initial_polls() const { return initial_polls_; }

private:
    /// One long wait: polls, yields, sleeps, or follows another thread's lead, step by step. Publishes its reason,
    /// and counts itself and its duration in the rank state.
    class WaitLoop : private WaitingThreads::WaitingThread {
    public:
        WaitLoop(Waiter& waiter, Reason const& reason, bool (*condition)(void*), void const* argument,
                 std::atomic<std::uint64_t> const* word = nullptr)
            : WaitingThread(condition, argument, now_ns()), waiter_(waiter), reason_(reason), word_(word),
              spin_(waiter.policy_, reason.policy, waiter.sleep_after_ns_, waiter.long_polls_, start) {}
        ~WaitLoop() { finish(); }
        /// The whole wait of a call that checks once: sleeps, or follows another thread's lead, until the condition
        /// may be true or `max_ns` nanoseconds have passed. It is not counted as a wait, and the policies ignore it.
        void sleep_once(long max_ns);
        /// Records an arrival: more may follow immediately, so the next check comes without a sleep.
        void on_arrival() {
            spin_.restart();
            if (asleep) waiter_.threads_.mark_awake(*this);
        }
        /// Called between two checks of the condition. Before it sleeps it first only marks the rank, so that the
        /// conditions are checked between the mark and the sleep.
        void step() {
            WaitingThreads& threads = waiter_.threads_;
            if (threads.any_asleep()) [[unlikely]]
                threads.wake_ready();
            if (!threads.is_leader(*this) && !threads.take_lead(*this, !has_followed && spin_.is_fresh())) [[unlikely]]
                follow(waiter_.max_sleep_ns_);
            else if (spin_.count_poll() || asleep) decide();
            else if (waiter_.lock_.has_waiters()) [[unlikely]] hand_over();
            else cpu_pause();
        }

    private:
        void follow(long max_ns);
        void decide();
        void hand_over();
        bool on_empty_poll();
        void finish();
        void mark_asleep();
        void sleep(long max_ns);

        Waiter& waiter_;
        Reason const& reason_;
        std::atomic<std::uint64_t> const* const word_;   ///< null: waits for anything
        SpinPolicy spin_;
        std::uint32_t ticket_ = 0;
        bool sleeps_once_ = false;
    };
    friend class ProgressThread;

    using Condition = bool (*)(void*);
    template <class Ready>
    static Condition type_erased(Ready&) {
        return [](void* ready) -> bool { return (*static_cast<Ready*>(ready))(); };
    }

    bool sleep_if_idle(Condition ready, void const* context, CallText const& call);
    bool release_core(bool moved, Condition ready, void const* context);
    bool must_wake_ranks() {
        wake_own_threads();
        return sleepers_.has_sleepers();
    }
    void wake_progress_thread();
    bool yield();
    void maybe_migrate(std::int64_t now);
    std::uint32_t add_sleeper(std::atomic<std::uint64_t> const* word = nullptr);

    Segment const& segment_;
    RankState& rank_state_;
    RankLock& lock_;
    WaitPolicy const policy_;
    int const initial_polls_;
    std::int64_t const sleep_after_ns_;
    long const max_sleep_ns_;
    std::uint64_t const run_delay_before_;
    Pollables pollables_;
    Sleepers sleepers_;
    WaitingThreads threads_{sleepers_};
    LongPolls long_polls_;
    Observers observers_;
    RepeatedTests repeated_tests_;
    ProgressThread* progress_thread_ = nullptr;
    int poll_descriptor_ = -1;                ///< set by set_poll_descriptor(); −1: none
    int services_ = 0, local_services_ = 0;   ///< services in progress, and those that ranks of this node may use
    NumaHome* numa_home_ = nullptr;           ///< null: the rank stays on its NUMA node
    CoreBalancer* core_balancer_ = nullptr;   ///< null: the rank does not move to another core by itself
};

}   // namespace tutti
