// SPDX-License-Identifier: BSD-3-Clause
// How one wait spends the time until its condition is true: it polls, then yields, then sleeps. This file contains
// only the decisions, made from times that the caller reads; policy.md lists everything they depend on.
//
// A rank that has its core to itself polls for 25 µs at a time, with a yield in between, and sleeps after
// `sleep_after` without progress. Where ranks outnumber cores it polls twice and yields. Where the core is taken away
// from it, or yields let other ranks run (runtime/wait/contention.hpp), it polls for 3 µs, or for 25 µs while that
// pays (LongPolls). Where the core is taken away it tries a few yields, and sleeps as soon as one was useless or cost
// a time slice. Where ranks outnumber cores and yields are useless it continues for 50 µs if there are other ranks or
// if that pays (LongPolls).
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "runtime/wait/reason.hpp"

namespace tutti {

/// Learns whether long polls pay on a contended core, or where ranks outnumber cores and yields are useless. They pay
/// if the awaited rank runs on another core and only occasionally loses its turn to another program: a sleep and a
/// wake-up would cost as much as the poll, and sleeping ranks make each other wait so long that they sleep again.
/// They do not pay if this rank itself keeps the other one from running. So a long poll without success makes the
/// next waits poll briefly, twice as many after each consecutive failure. One object per rank.
class LongPolls {
public:
    /// Returns true if a wait may poll for long; record() must follow then.
    bool may_try() { return skips_left_ == 0 || (--skips_left_, false); }
    /// `arrived`: the condition became true during the poll.
    void record(bool arrived) {
        failures_ = arrived ? 0 : failures_ < max_failures ? failures_ + 1 : max_failures;
        skips_left_ = (1u << failures_) - 1;
    }

private:
    static constexpr unsigned max_failures = 6;
    unsigned failures_ = 0, skips_left_ = 0;
};

/// The policy of one wait, used by its thread alone. Times are values of now_ns().
class SpinPolicy {
public:
    /// What the rank knows about its core.
    struct Core {
        bool contended = false, has_neighbours = false;
    };
    enum class Next { poll, yield, sleep };

    /// `override_policy`: the policy of this wait; none: `rank_policy`, that of the rank. `sleep_after_ns` 0: the wait
    /// never sleeps.
    SpinPolicy(WaitPolicy rank_policy, std::optional<WaitPolicy> override_policy, std::int64_t sleep_after_ns,
               LongPolls& long_polls, std::int64_t now)
        : policy_(override_policy.value_or(rank_policy)), adapts_(override_policy != WaitPolicy::dedicated),
          polls_per_clock_(policy_ == WaitPolicy::dedicated ? polls_per_clock : polls_if_oversubscribed),
          sleep_after_ns_(sleep_after_ns), long_polls_(long_polls), polling_since_(now) {}
    ~SpinPolicy() { end_long_poll(true); }
    SpinPolicy(SpinPolicy const&) = delete;
    SpinPolicy& operator=(SpinPolicy const&) = delete;

    /// Must be called after each check of the condition. Returns true when the clock should be read.
    bool count_poll() { return ++polls_ >= polls_per_clock_; }
    /// Returns for how long the thread has only polled; 0: unknown.
    std::int64_t record_clock(std::int64_t now) {
        polls_ = 0;
        if (first_clock_ == 0) first_clock_ = now;
        return last_clock_ == 0 ? last_clock_ = now, 0 : now - std::exchange(last_clock_, now);
    }
    /// Returns what to do next. Must be called right after record_clock().
    Next next(std::int64_t now, Core core);
    /// Records a yield; it was useless if it let no other thread run.
    void record_yield(bool useless, std::int64_t now);
    /// Records that the thread has done something other than poll since the clock was read.
    void invalidate_clock() { last_clock_ = 0; }
    /// Records an arrival: more may follow immediately.
    void restart() {
        end_long_poll(true);
        tried_long_poll_ = false;
        polls_ = yields_ = consecutive_useless_ = 0;
        first_clock_ = last_clock_ = 0;
    }
    /// Returns true if the wait has not read the clock yet.
    bool is_fresh() const { return yields_ == 0 && last_clock_ == 0; }

private:
    bool keeps_polling(std::int64_t polled_for, bool contended, bool has_neighbours);
    void end_long_poll(bool arrived) {
        if (std::exchange(in_long_poll_, false)) long_polls_.record(arrived);
    }
    bool may_yield(std::int64_t now, bool contended, bool has_neighbours);
    bool continues_long_poll(bool on_time);

    static constexpr int polls_per_clock = 32, polls_if_oversubscribed = 2;

    WaitPolicy const policy_;
    bool const adapts_;   ///< contention influences the decisions
    int const polls_per_clock_;
    std::int64_t const sleep_after_ns_;
    LongPolls& long_polls_;
    bool tried_long_poll_ = false;   ///< since the last arrival
    bool in_long_poll_ = false;
    int polls_ = 0;                  ///< since the clock was read
    int yields_ = 0;                 ///< since the last arrival
    int consecutive_useless_ = 0;    ///< consecutive useless yields at the end of these
    std::int64_t first_clock_ = 0;   ///< when the clock was first read after the last arrival; 0: not yet
    std::int64_t polling_since_;     ///< the last yield, or the start of the wait
    std::int64_t last_clock_ = 0;    ///< when the clock was read; 0: not since the thread did something other than poll
};

}   // namespace tutti
