// SPDX-License-Identifier: BSD-3-Clause
// Calls that check once and return, such as MPI_Test: where a program repeats them without success they give the core
// away, or sleep, and the rank records that it polls without progress.
//
// Where cores are shared, a program that repeats such calls must not keep the ranks that it waits for from running.
// Where the program itself sleeps between them, a call may sleep in its place: woken by what ends the waiting, it
// reacts to that sooner, and wakes less often until then.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/counters/rank_state.hpp"
#include "runtime/wait/rank_lock.hpp"
#include "runtime/wait/reason.hpp"

namespace tutti {

/// Describes the call that tests, for a record: refers to a function that returns the call with its arguments.
class CallText {
public:
    CallText() = default;
    template <class Call>
    explicit CallText(Call const& call)
        : write_([](void const* of) -> std::string { return (*static_cast<Call const*>(of))(); }), call_(&call) {}

    /// Empty: nothing is known.
    std::string text() const { return write_ ? write_(call_) : std::string(); }

private:
    std::string (*write_)(void const*) = nullptr;
    void const* call_ = nullptr;
};

/// What a rank knows of its tests that found nothing. Inside the rank's lock.
class RepeatedTests {
public:
    /// The first two outlive it. `sleep_after_ns` 0: tests never sleep. `naps`: those of an idle program may.
    RepeatedTests(RankLock& lock, RankState& rank_state, WaitPolicy policy, std::int64_t sleep_after_ns, bool naps)
        : lock_(lock), rank_state_(rank_state), policy_(policy), sleep_after_ns_(sleep_after_ns), naps_(naps) {}

    /// Where the name of the MPI call is that the program is in, for records of calls without a text.
    void names_calls(char const* const& name) { call_name_ = &name; }

    /// Callback of a rank that no launcher of ours supervises: while it is recorded that it polls, with the time since
    /// it began to.
    void if_unsupervised(void (*callback)(void const* context, std::int64_t polled_ns), void const* context) {
        unsupervised_ = callback;
        unsupervised_context_ = context;
    }

    /// A test has found nothing.
    void count(CallText const& call) {
        ++tests_;
        if (tests_ % tests_per_check == 0) [[unlikely]]
            check_core();
        if (tests_ % tests_per_record == 0) [[unlikely]]
            record(call);
    }

    /// The program itself sleeps between its tests, and they find nothing.
    bool idle() const { return idle_; }
    /// For how long the test of an idle program shall sleep, in nanoseconds; 0: not at all. After the sleep: end_nap().
    long begin_nap();
    void end_nap(CallText const& call);

    /// How a test gives its core away. Where ranks outnumber cores each fourth test in a row does, elsewhere one each
    /// 25 µs. A nap lasts nap_ns at most.
    enum class Gives { nothing, yield, nap };
    static constexpr long nap_ns = 1'000'000;
    /// `moved`: the test has moved something on.
    Gives give_core_away(bool moved);

private:
    void check_core();
    void check_idleness(std::int64_t now, std::int64_t used);
    void count_idleness_anew(std::int64_t now, std::int64_t used);
    void record(CallText const& call);

    static constexpr unsigned tests_per_record = 256, tests_per_check = 64;

    RankLock& lock_;
    RankState& rank_state_;
    WaitPolicy const policy_;
    std::int64_t const sleep_after_ns_;
    bool const naps_;
    char const* const* call_name_ = nullptr;   ///< null: not known
    unsigned tests_ = 0;                       ///< ever
    int in_a_row_ = 0;                         ///< on a shared core, with nothing else in between,
    std::int64_t row_since_ = 0, last_ = 0;    ///< and when the first and the last one of them were
    long switches_ = 0;                        ///< involuntary ones of this thread when they were last counted,
    std::uint64_t yields_ = 0;                 ///< the rank's yields then,
    std::int64_t next_check_ = 0;              ///< and when they are counted again
    bool idle_ = false;
    std::int64_t idle_since_ = 0;             ///< so far, when that began,
    std::int64_t idle_used_ = 0;              ///< the thread's processor time then,
    std::uint64_t idle_moves_ = 0;            ///< and what had moved
    std::int64_t left_ = 0, left_used_ = 0;   ///< the end of the last test since then; 0: none
    void (*unsupervised_)(void const* context, std::int64_t polled_ns) = nullptr;   ///< null: it is supervised
    void const* unsupervised_context_ = nullptr;
};

}   // namespace tutti
