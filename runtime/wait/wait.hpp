// SPDX-License-Identifier: BSD-3-Clause
// The one wait: the only place that spins, yields or sleeps. The caller gives a condition and a reason.
//
// A rank that has its core to itself polls for 25 µs at a time, with a yield in between, and sleeps after `sleep_after`
// milliseconds without progress. Where ranks outnumber cores it polls twice and yields. Where the core is taken away
// from it (runtime/wait/contention.hpp) it polls for 3 µs, tries a few yields, and sleeps as soon as one of them was
// useless or cost a time slice. Sleeping and waking: runtime/wait/sleepers.hpp.
//
// Threads: several threads of a rank may wait, each inside the rank's lock (runtime/wait/rank_lock.hpp) when it checks
// its condition, outside when it yields or sleeps. One of them leads: it polls, checks the conditions of the others,
// too, and calls those whose conditions are true; they sleep until then. A leader that leaves calls another thread, and
// a thread that starts to wait while the leader sleeps takes its place. Steps (1) to (4) of sleepers.hpp are the
// leader's; in (3) it checks all conditions: all that changes them happens inside the lock, or is a store of another
// rank. The conditions that a thread makes true without waiting itself are checked before it leaves the lock
// (wake_own_threads, wake_sleepers).
//
// A call that checks once (MPI_Test) does not wait, but where cores are shared, or where the program itself sleeps
// between such calls, it yields or sleeps for a short time when it is repeated without progress: as the leader if there
// is none, otherwise as a thread that follows one. The leader also publishes for the launcher what all threads wait
// for, once they have waited for long, and answers its questions for them.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>
#include <type_traits>

#include "runtime/base/clock.hpp"
#include "runtime/base/flag.hpp"
#include "runtime/memory/segment.hpp"
#include "runtime/wait/rank_lock.hpp"
#include "runtime/wait/reason.hpp"
#include "runtime/wait/shown/shown_waits.hpp"
#include "runtime/wait/sleepers.hpp"

namespace tutti {

/// An observer of the calls that the program makes, in all its threads.
class CallWatch {
public:
    virtual ~CallWatch() = default;
    virtual void enter(char const* call, void const* site) = 0;
    virtual void leave() = 0;
};

/// Something that moves communication on when it is called: the transports, and suspended operations.
class Pollable {
public:
    virtual ~Pollable() = default;
    /// Moves on everything that needs no wait. Returns true if anything moved.
    virtual bool poll() = 0;
    /// Returns true if nothing is under way that must be polled until it ends, other than what a thread waits for.
    virtual bool at_rest() const { return true; }
    /// Returns true if something is under way that stores of other ranks of this node move on.
    virtual bool awaits_words() const { return false; }
    /// Adds to the blockage's `others` the ranks whose acts move something on here for third ranks. Where these are not
    /// known, the blockage awaits the unknown.
    virtual void tell(Blockage&) const {}
    /// Adds what has gone to and come from suspected ranks of other nodes.
    virtual void count_bytes(Segment const&, NetworkBytes&) const {}
};

class ProgressThread;
class Tracer;
class Home;
class Balance;

class Waiter {
public:
    /// `sleep_after_ms` 0: never sleeps. `learns` false: it does not adapt to other programs on its core. `segment` and
    /// the lock must outlive the waiter.
    Waiter(Segment const& segment, unsigned rank, WaitPolicy policy, long sleep_after_ms, RankLock& lock,
           bool learns = true);

    /// What to poll while waiting; a process has one or two (transport, operations in flight).
    void attach(Pollable* pollable);
    void detach(Pollable* pollable);

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

    /// Where the name of the MPI call is that the program is in, for reports of calls that poll without progress.
    void names_calls(char const* const& name) { call_name_ = &name; }
    /// Callback, called with the lock held when a wait becomes long, at each of its later polls without progress, and
    /// whenever the launcher asks.
    void watch_long_waits(void (*callback)(void const* context), void const* context) {
        on_long_wait_ = callback;
        long_wait_context_ = context;
    }

    /// The same for a rank that no launcher of ours supervises; `waited_ns`: how long the wait has lasted.
    void if_unsupervised(void (*callback)(void const* context, std::int64_t waited_ns), void const* context) {
        unsupervised_ = callback;
        unsupervised_context_ = context;
    }

    bool at_rest() const {
        return std::all_of(pollable_, pollable_ + pollables_, [](Pollable const* p) { return p->at_rest(); });
    }
    /// Something is under way that no thread waits for yet: the progress thread, if there is one, moves it on.
    void started() {
        if (helper_) [[unlikely]]
            call_helper();
    }

    /// Moves everything attached on by one step.
    bool progress() {
        bool moved = false;
        for (int i = 0; i < pollables_; ++i) moved |= pollable_[i]->poll();
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

    /// For calls that check once and return, such as MPI_Test: one step of progress. Where cores are shared, a program
    /// that repeats them without success must not keep the ranks that it waits for from running, so the call gives the
    /// core away, for at most a millisecond after it could have it back. It sleeps for at most 10 ms if the program
    /// itself sleeps between such calls. `ready` as for `until`; this returns its last answer, for what it has found
    /// before may be gone after the lock was left.
    template <class Ready>
    bool test(Ready&& ready) {
        if (ready()) return true;
        if (!shares_core() && !lock_.on()) [[likely]] {
            progress();
            if (ready()) return true;
            count_empty_test();
            return idle_ && nap_if_idle(erased(ready), &ready) && (progress(), ready());
        }
        bool const moved = progress();
        if (sleeping_) wake_ready();
        if (ready()) return true;
        count_empty_test();
        if (idle_) return nap_if_idle(erased(ready), &ready) && (progress(), ready());
        return give_core_away(moved, erased(ready), &ready) && (progress(), ready());
    }

    /// After something that only threads of this rank may wait for: wakes them before the caller leaves the lock.
    void wake_own_threads() { ended_.store(true, std::memory_order_relaxed); }
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
        if (sleeping_ && ended_.load(std::memory_order_relaxed)) [[unlikely]]
            wake_ready();
        lock_.leave();
    }
    /// Returns true if the program's calls must be enclosed in enter() and leave_call().
    bool around_calls() const { return lock_.on() || follows_calls(); }
    /// Returns true if they have an observer.
    bool follows_calls() const { return tracer_ || call_watch_; }
    /// The same around a call of the program, for its observers as well.
    void enter(char const* call, void const* site);
    void leave_call();
    void trace_by(Tracer* tracer) { tracer_ = tracer; }
    /// Called around each of these calls, outside of the lock.
    void watch_calls(CallWatch* watch) { call_watch_ = watch; }

    /// Counts how long the kernel let this thread wait for a core since the waiter was made by it.
    void count_run_delay();

    WaitPolicy policy() const { return policy_; }
    /// Ranks outnumber cores, or another thread has lately taken this rank's core: long polling does harm.
    bool shares_core() const { return policy_ == WaitPolicy::shared || contended_; }
    /// How often a wait checks its condition before it moves everything attached on.
    int first_polls() const { return first_polls_; }

private:
    /// One long wait: decides step by step between polling, yielding, sleeping, and following another thread's lead,
    /// keeps the rank state's reason, and counts itself and its time there.
    class WaitLoop {
    public:
        WaitLoop(Waiter& waiter, Reason const& why, bool (*ready)(void*), void const* what,
                 std::atomic<std::uint64_t> const* word = nullptr)
            : waiter_(waiter), why_(why), ready_(ready), what_(const_cast<void*>(what)), word_(word),
              policy_(why.policy.value_or(waiter.policy_)),
              polls_per_clock_(policy_ == WaitPolicy::dedicated ? polls_per_clock : polls_where_ranks_share),
              start_(now_ns()) {}
        ~WaitLoop() { finish(); }
        /// All of it for a call that checks once: sleeps, or follows another thread's lead, until the condition may be
        /// true or `longest` nanoseconds are over. It is no wait: not counted, and nothing is learned from it.
        void nap(long longest);
        /// Something arrived: more may follow immediately, so the next check comes without a sleep.
        void moved() {
            polls_ = yields_ = useless_ = 0;
            since_ = clock_ = 0;
            if (asleep_) get_up();
        }
        /// Between two checks of the condition; when it is about to sleep it first only marks, so that the conditions
        /// are checked between the mark and the sleep.
        void step() {
            if (waiter_.sleeping_) [[unlikely]]
                waiter_.wake_ready();
            if (waiter_.leader_ != this && !take_lead()) [[unlikely]]
                follow(waiter_.longest_sleep_ns_);
            else if (++polls_ >= polls_per_clock_ || asleep_) read_clock();
            else if (waiter_.lock_.wanted()) [[unlikely]] hand_over();
            else cpu_pause();
        }

    private:
        friend class Waiter;

        bool take_lead();
        void follow(long longest);
        void read_clock();
        void hand_over();
        void relax(std::int64_t now);
        bool yields(std::int64_t now) const;
        bool contended() const;
        bool has_neighbours() const;
        bool all_wait() const;
        void show_all() const;
        bool add_to_shown();
        bool asked_again();
        void answer(std::uint64_t question);
        void finish();
        void get_up();
        void mark_asleep();
        void sleep(long longest);
        void call();

        Waiter& waiter_;
        Reason const& why_;
        bool (*const ready_)(void*);
        void* const what_;
        std::atomic<std::uint64_t> const* const word_;   ///< null: it waits for anything
        WaitPolicy const policy_;
        int const polls_per_clock_;
        void const* const thread_ = __builtin_thread_pointer();
        std::int64_t const start_;
        int polls_ = 0;                       ///< since the clock was read
        int yields_ = 0;                      ///< since something moved
        int useless_ = 0;                     ///< the last ones of these, in a row
        std::int64_t since_ = 0;              ///< the first of these; 0: none
        std::int64_t polls_since_ = start_;   ///< the last yield, or the beginning
        std::int64_t clock_ = 0;   ///< when it was read; 0: not since the thread did something other than poll
        std::uint32_t ticket_ = 0;
        bool asleep_ = false;   ///< marked on the rank's state
        bool followed_ = false;
        bool nap_ = false;
        bool shown_ = false;                     ///< among the waiter's shown waits
        bool at_rank_futex_ = false;             ///< where it sleeps: where others wake the rank, or at `called_`
        int event_ = -1;                         ///< an eventfd that ends the former, where poll(2) does; −1: none
        std::atomic<std::uint32_t> called_{0};   ///< futex: 1 when it shall check its condition itself
        WaitLoop* next_ = nullptr;               ///< in sleeping_
    };
    friend class ProgressThread;

    using Condition = bool (*)(void*);
    template <class Ready>
    static Condition erased(Ready&) {
        return [](void* ready) -> bool { return (*static_cast<Ready*>(ready))(); };
    }

    void check_core();
    void check_idleness(std::int64_t now, std::int64_t used);
    bool nap_if_idle(Condition ready, void const* what);
    bool give_core_away(bool moved, Condition ready, void const* what);
    void count_empty_test() {
        ++empty_tests_;
        if (empty_tests_ % tests_per_check == 0) [[unlikely]]
            check_core();
        if (empty_tests_ % polls_per_record == 0) [[unlikely]]
            note_polling();
    }
    void note_polling();
    bool any_sleepers() {
        wake_own_threads();
        return sleepers_.any();
    }
    void call_long_wait_watch() const {
        if (on_long_wait_) on_long_wait_(long_wait_context_);
    }
    void call_helper();
    /// A thread of the program polls.
    bool polled() const { return leader_ && !leader_->asleep_; }
    std::int64_t yield();
    void consider_moving(std::int64_t now);
    std::uint32_t add_sleeper(std::atomic<std::uint64_t> const* word = nullptr);
    void enlist(WaitLoop& wait_loop);
    void delist(WaitLoop& wait_loop);
    void wake_ready();
    void call_next();

    Segment const& segment_;
    unsigned const place_;
    RankState& rank_state_;
    RankLock& lock_;
    WaitPolicy policy_;
    std::int64_t sleep_after_ns_;
    long longest_sleep_ns_;
    int first_polls_;
    bool contended_ = false;   ///< as Contention had it when the clock was read last
    Sleepers sleepers_;
    long switches_ = 0;                           ///< involuntary ones of this thread when they were last counted,
    std::int64_t const publish_in_any_case_ns_;   ///< a wait that lasts so long, whatever the allowance
    std::uint64_t const run_delay_before_;
    std::int64_t next_check_ = 0;   ///< and when they are counted again
    bool const naps_;
    bool idle_ = false;                       ///< the program itself sleeps between its tests, and they find nothing
    std::int64_t idle_since_ = 0;             ///< so far, when that began,
    std::int64_t idle_used_ = 0;              ///< the thread's processor time then,
    std::uint64_t idle_moves_ = 0;            ///< and what had moved
    std::int64_t left_ = 0, left_used_ = 0;   ///< the end of the last test since then; 0: none
    /// A wait's, before it reads the clock.
    static constexpr int polls_per_clock = 32, polls_where_ranks_share = 2;
    static constexpr unsigned polls_per_record = 256, tests_per_check = 64;
    unsigned empty_tests_ = 0;                 ///< ever
    char const* const* call_name_ = nullptr;   ///< null: not known
    int empty_tests_in_a_row_ = 0;             ///< in a row
    std::int64_t last_test_ns_ = 0;            ///< when the last one of them was
    std::atomic<bool> ended_{false};           ///< something that threads of this rank may wait for
    WaitLoop* leader_ = nullptr;
    WaitLoop* sleeping_ = nullptr;   ///< threads of this rank, the oldest first
    ShownWaits shown_waits_{rank_state_.blocked, segment_.header().ranks_per_core()};
    int needless_calls_ = 0;    ///< calls in a row of a thread that then found another one leading
    std::uint64_t asked_ = 0;   ///< the last question of the launcher that has been seen
    ProgressThread* helper_ = nullptr;
    void (*on_long_wait_)(void const* about) = nullptr;   ///< null: none
    void const* long_wait_context_ = nullptr;
    void (*unsupervised_)(void const* about, std::int64_t waited_ns) = nullptr;   ///< null: it is supervised
    void const* unsupervised_context_ = nullptr;
    int descriptor_ = -1;                        ///< of watch(); −1: there is none
    int services_ = 0, services_by_words_ = 0;   ///< begun and not ended, and those of them that ranks of this node ask
    Home* home_ = nullptr;                       ///< null: the rank stays on its node
    CallWatch* call_watch_ = nullptr;            ///< null: none
    Tracer* tracer_ = nullptr;                   ///< null: nothing is traced
    Balance* balance_ = nullptr;                 ///< null: it moves to no other core by itself
    Pollable* pollable_[4] = {};
    int pollables_ = 0;
};

}   // namespace tutti
