// SPDX-License-Identifier: BSD-3-Clause
// Who observes a rank's calls and its long waits: the trace, the check of the program's threads, the comparison of
// calls, and the launcher, which shows the user why a rank does not go on and finds deadlocks.
//
// What is published of a wait is for the user alone and bounded in time (ShownWaits, Allowance). The launcher asks once
// more before it believes it: a rank answers a question when all its threads sleep in waits that are shown, and all
// their conditions were false at a check after the question.
#pragma once

#include <cstdint>

#include <sys/types.h>

#include "runtime/memory/segment.hpp"
#include "runtime/wait/pollable.hpp"
#include "runtime/wait/reason.hpp"
#include "runtime/wait/shown/shown_waits.hpp"
#include "runtime/wait/waiting_threads.hpp"

namespace tutti {

class Tracer;

/// An observer of the calls that the program makes, in all its threads.
class CallWatch {
public:
    virtual ~CallWatch() = default;
    virtual void enter(char const* call, void const* site) = 0;
    virtual void leave() = 0;
};

/// Of one rank. Set up before there are threads; the methods about waits are called inside the rank's lock.
class Observers {
public:
    using Wait = WaitingThreads::Wait;

    /// Both outlive it.
    Observers(Segment const& segment, RankState& rank_state);

    CallWatch* calls = nullptr;   ///< called around each call, outside of the lock; null: none
    Tracer* tracer = nullptr;     ///< null: nothing is traced

    /// Callback, called when a wait becomes long, at each of its later polls without progress, and whenever the
    /// launcher asks.
    void watch_long_waits(void (*callback)(void const* context), void const* context) {
        on_long_wait_ = callback;
        long_wait_context_ = context;
    }
    /// The same for a rank that no launcher of ours supervises; `waited_ns`: how long the wait has lasted.
    void if_unsupervised(void (*callback)(void const* context, std::int64_t waited_ns), void const* context) {
        unsupervised_ = callback;
        unsupervised_context_ = context;
    }
    /// Threads that never call MPI, by gettid(): they release no wait.
    void exempt(std::vector<pid_t> threads) { shown_waits_.exempt(std::move(threads)); }
    /// Do the program's calls have an observer?
    bool follow_calls() const { return tracer || calls; }

    /// What a rank has apart from the wait that polls for all.
    struct Rank {
        WaitingThreads const& threads;
        Pollables const& polled;
        bool several_threads;
        pid_t helper;   ///< the progress thread's gettid(); 0: none
    };
    /// Shows a wait if it has lasted for long and the rank can afford to. By its own thread, for only that knows its
    /// stack. Returns true if it is shown.
    bool show(Wait& wait, Reason const& why);
    /// After a poll of the leader's without progress: shows all waits as they are now where that is due, and answers
    /// the launcher if it had asked before the poll. Returns true if it has asked since; then the next poll comes at
    /// once.
    bool polled_in_vain(Wait& wait, Reason const& why, Rank const& rank);
    /// The wait is over.
    void end(Wait const& wait, std::int64_t now);

private:
    void show_all(Wait const& leader, Rank const& rank);
    void answer(std::uint64_t question, Wait const& leader, Rank const& rank);
    void call_long_wait_watch() const {
        if (on_long_wait_) on_long_wait_(long_wait_context_);
    }

    Segment const& segment_;
    Blocked& blocked_;
    std::int64_t const publish_in_any_case_ns_;   ///< a wait that lasts so long, whatever the allowance
    ShownWaits shown_waits_;
    std::uint64_t asked_ = 0;                             ///< the last question of the launcher that has been seen
    void (*on_long_wait_)(void const* about) = nullptr;   ///< null: none
    void const* long_wait_context_ = nullptr;
    void (*unsupervised_)(void const* about, std::int64_t waited_ns) = nullptr;   ///< null: it is supervised
    void const* unsupervised_context_ = nullptr;
};

}   // namespace tutti
