// SPDX-License-Identifier: BSD-3-Clause
// Calls that check once and return, such as MPI_Test: if a program repeats them without success, they yield the core
// or sleep, and the rank records that it polls without progress.
//
// Where cores are shared, a program that repeats such calls must not keep the ranks that it waits for from running.
// If the program itself sleeps between the calls, a call may sleep in its place: it is woken by the event that ends
// the waiting, reacts sooner, and wakes less often until then.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/state/rank_state.hpp"
#include "runtime/wait/rank_lock.hpp"
#include "runtime/wait/reason.hpp"

namespace tutti {

class Observer;

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
