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
    /// Returns true if a wait may poll for long; note() must follow then.
    bool try_one() { return skipped_ == 0 || (--skipped_, false); }
    /// `came`: the condition became true during the poll.
    void note(bool came) {
        failures_ = came ? 0 : failures_ < most_failures ? failures_ + 1 : most_failures;
        skipped_ = (1u << failures_) - 1;
    }

private:
    static constexpr unsigned most_failures = 6;
    unsigned failures_ = 0, skipped_ = 0;
};

/// The policy of one wait, used by its thread alone. Times are values of now_ns().
class SpinPolicy {
public:
    /// What the rank knows about its core.
    struct Core {
        bool contended = false, has_neighbours = false;
    };
    enum class Next { poll, yield, sleep };

    /// `wish`: how this wait is to treat its core; none: by `rule`, the rank's policy. `sleep_after_ns` 0: the wait
    /// never sleeps.
    SpinPolicy(WaitPolicy rule, std::optional<WaitPolicy> wish, std::int64_t sleep_after_ns, LongPolls& long_polls,
               std::int64_t now)
        : policy_(wish.value_or(rule)), heeds_core_(wish != WaitPolicy::dedicated),
          polls_per_clock_(policy_ == WaitPolicy::dedicated ? polls_per_clock : polls_where_ranks_share),
          sleep_after_ns_(sleep_after_ns), long_polls_(long_polls), polls_since_(now) {}
    ~SpinPolicy() { end_long_poll(true); }
    SpinPolicy(SpinPolicy const&) = delete;
    SpinPolicy& operator=(SpinPolicy const&) = delete;

    /// Must be called after each check of the condition. Returns true when the clock should be read.
    bool count_poll() { return ++polls_ >= polls_per_clock_; }
    /// Returns for how long the thread has only polled; 0: unknown.
    std::int64_t note_clock(std::int64_t now) {
        polls_ = 0;
        if (since_ == 0) since_ = now;
        return clock_ == 0 ? clock_ = now, 0 : now - std::exchange(clock_, now);
    }
    /// Returns what to do next. Must be called right after note_clock().
    Next next(std::int64_t now, Core core);
    /// Records a yield; it was useless if it let no other thread run.
    void note_yield(bool useless, std::int64_t now);
    /// Records that the thread has done something other than poll since the clock was read.
    void interrupt() { clock_ = 0; }
    /// Records an arrival: more may follow immediately.
    void restart() {
        end_long_poll(true);
        tried_long_poll_ = false;
        polls_ = yields_ = useless_ = 0;
        since_ = clock_ = 0;
    }
    /// Returns true if the wait has not read the clock yet.
    bool fresh() const { return yields_ == 0 && clock_ == 0; }

private:
    bool polls_on(std::int64_t polled_for, bool contended, bool has_neighbours);
    void end_long_poll(bool came) {
        if (std::exchange(polls_long_, false)) long_polls_.note(came);
    }
    bool may_yield(std::int64_t now, bool contended, bool has_neighbours);
    bool polls_long(bool on_time);

    static constexpr int polls_per_clock = 32, polls_where_ranks_share = 2;

    WaitPolicy const policy_;
    bool const heeds_core_;   ///< contention influences the decisions
    int const polls_per_clock_;
    std::int64_t const sleep_after_ns_;
    LongPolls& long_polls_;
    bool tried_long_poll_ = false;   ///< since the last arrival
    bool polls_long_ = false;
    int polls_ = 0;              ///< since the clock was read
    int yields_ = 0;             ///< since the last arrival
    int useless_ = 0;            ///< consecutive useless yields at the end of these
    std::int64_t since_ = 0;     ///< when the clock was first read after the last arrival; 0: not yet
    std::int64_t polls_since_;   ///< the last yield, or the start of the wait
    std::int64_t clock_ = 0;     ///< when the clock was read; 0: not since the thread did something other than poll
};

}   // namespace tutti
