// SPDX-License-Identifier: BSD-3-Clause
// What a rank publishes about its waits: threads that have waited for long (Blocked in
// runtime/state/call_record.hpp), and tests that the program repeats without success (BusyPoll). Must be called with
// the rank's lock held.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "runtime/base/allowance.hpp"
#include "runtime/state/call_record.hpp"
#include "runtime/state/rank_state.hpp"
#include "runtime/wait/rank_lock.hpp"
#include "runtime/wait/reason.hpp"

namespace tutti {

class Observer;
class Pollable;

/// Publishes a rank's threads that have waited for long. Each thread adds its own wait, because only it can walk its
/// stack; the leader (runtime/wait/waiting_threads.hpp) writes the record for all of them.
class BlockedWaits {
public:
    /// `record` must stay valid as long as this object. `ranks_per_core`: number of ranks that share a core.
    explicit BlockedWaits(Blocked& record, unsigned ranks_per_core = 1)
        : record_(record), ranks_per_core_(ranks_per_core), allowance_(ranks_per_core) {}

    /// Returns true if publishing a wait at time `now` fits the rank's budget: the cost of stack and text is bounded.
    bool may_add(std::int64_t now) { return allowance_.grants(now); }

    /// Adds a wait of the calling thread; `wait` identifies it and `reason` must stay valid until it is removed.
    /// Returns false if there is no room, or if an enclosing wait of the same thread is published already.
    bool add(void const* wait, Reason const& reason);
    /// Removes a wait that is over. Withdraws the whole record until the remaining waits are published again.
    void remove(void const* wait, std::int64_t now);

    /// Declares threads that never call MPI, such as those of the launcher's library, by gettid().
    void exempt(std::vector<pid_t> threads) { exempt_ = std::move(threads); }

    std::size_t size() const { return waits_.size(); }
    /// Returns true if the record may have to be rewritten at `now` (now_ns()).
    bool is_due(std::int64_t now) const { return !waits_.empty() && now >= due_; }
    /// The rank's other threads. `exist`: the rank may have threads that could act. Whether they can is determined
    /// only if `all_asleep`: the caller's wait is published, and the threads of all other published waits sleep with
    /// false conditions. `progress_thread`: gettid() of the progress thread, 0: none.
    struct OtherThreads {
        bool exist = false, all_asleep = false;
        pid_t progress_thread = 0;
    };
    /// Publishes all waits as they are now; does nothing if the record is up to date.
    void publish(OtherThreads others, std::span<Pollable* const> pollables, std::int64_t now);

private:
    struct PublishedWait {
        void const* wait;
        Reason const* reason;
        pid_t thread;
        std::vector<std::uint64_t> stack;
        std::string script;
        std::int64_t since;   ///< when it was added
    };

    bool no_thread_can_act(OtherThreads others, std::int64_t now) const;
    void write(std::vector<BlockedCall> const& blocked_calls);

    Blocked& record_;
    std::int64_t const ranks_per_core_;
    Allowance allowance_;
    std::vector<pid_t> exempt_;
    std::vector<PublishedWait> waits_;     ///< oldest first
    std::vector<BlockedCall> published_;   ///< as published
    std::int64_t due_ = 0, pause_ns_ = 0;
};

// Calls that check once and return, such as MPI_Test: if a program repeats them without success, they yield the core
// or sleep, and the rank records that it polls without progress.
//
// Where cores are shared, a program that repeats such calls must not keep the ranks that it waits for from running.
// If the program itself sleeps between the calls, a call may sleep in its place: it is woken by the event that ends
// the waiting, reacts sooner, and wakes less often until then.

/// Describes the testing call for a record, by reference to a function that returns the call with its arguments.
class CallText {
public:
    CallText() = default;
    template <class Call>
    explicit CallText(Call const& call)
        : write_([](void const* of) -> std::string { return (*static_cast<Call const*>(of))(); }), call_(&call) {}

    /// Returns an empty string if the call is unknown.
    std::string text() const { return write_ ? write_(call_) : std::string(); }

private:
    std::string (*write_)(void const*) = nullptr;
    void const* call_ = nullptr;
};

/// A rank's record of tests that found nothing. Must be called with the rank's lock held.
class RepeatedTests {
public:
    /// `lock` and `rank_state` must stay valid as long as this object. `sleep_after_ns` 0: tests never sleep.
    /// `may_sleep`: tests of an idle program may sleep.
    RepeatedTests(RankLock& lock, RankState& rank_state, WaitPolicy policy, std::int64_t sleep_after_ns, bool may_sleep)
        : lock_(lock), rank_state_(rank_state), policy_(policy), sleep_after_ns_(sleep_after_ns),
          may_sleep_(may_sleep) {}

    Observer* observer = nullptr;   ///< notified while the rank is recorded as polling; null: none

    /// Records a test that found nothing.
    void record_empty_test(CallText const& call) {
        ++tests_;
        if (tests_ % tests_per_check == 0) [[unlikely]]
            check_core();
        if (tests_ % tests_per_record == 0) [[unlikely]]
            record(call);
    }

    /// Returns true if the program itself sleeps between its tests and they find nothing.
    bool program_is_idle() const { return idle_; }
    /// Returns for how long the test of an idle program should sleep, in nanoseconds; 0: not at all. Call end_sleep()
    /// after the sleep.
    long begin_sleep();
    void end_sleep(CallText const& call);

    /// How a test releases its core. Where ranks outnumber cores, every fourth consecutive test does; elsewhere one
    /// every 25 µs. A sleep lasts at most max_sleep_ns.
    enum class CoreRelease { none, yield, sleep };
    static constexpr long max_sleep_ns = 1'000'000;
    /// Returns how the calling test is to release its core. `moved`: the test advanced something.
    CoreRelease next_release(bool moved);

private:
    void check_core();
    void check_idleness(std::int64_t now, std::int64_t cpu_ns);
    void restart_idle_period(std::int64_t now, std::int64_t cpu_ns);
    void record(CallText const& call);

    static constexpr unsigned tests_per_record = 256, tests_per_check = 64;

    RankLock& lock_;
    RankState& rank_state_;
    WaitPolicy const policy_;
    std::int64_t const sleep_after_ns_;
    bool const may_sleep_;
    unsigned tests_ = 0;                                   ///< total
    int consecutive_tests_ = 0;                            ///< tests on a shared core without other work in between,
    std::int64_t consecutive_since_ = 0, last_test_ = 0;   ///< and the times of the first and the last of them
    long switches_ = 0;                                    ///< involuntary switches of this thread at the last check,
    std::uint64_t yields_ = 0;                             ///< the rank's yields at that time,
    std::int64_t next_check_ = 0;                          ///< and the time of the next check
    bool idle_ = false;
    std::int64_t idle_since_ = 0;                       ///< start of the current idle period,
    std::int64_t idle_start_cpu_ns_ = 0;                ///< the thread's processor time at its start,
    std::uint64_t idle_progress_count_ = 0;             ///< and Blocked::progress_count then
    std::int64_t last_end_ = 0, last_end_cpu_ns_ = 0;   ///< end of the last test since then; 0: none
};

}   // namespace tutti
