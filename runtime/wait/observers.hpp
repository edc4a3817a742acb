// SPDX-License-Identifier: BSD-3-Clause
// Observers of a rank's calls and long waits: the trace, the check of the program's threads, the comparison of calls,
// and the launcher, which shows the user why a rank does not progress and detects deadlocks.
//
// Published waits serve the user alone and are bounded in time (BlockedWaits, Allowance). The launcher queries again
// before it relies on one: a rank answers a query when all its threads sleep in published waits and all their
// conditions were false at a check after the query.
#pragma once

#include <cstdint>

#include <sys/types.h>

#include "runtime/base/function.hpp"
#include "runtime/memory/segment.hpp"
#include "runtime/wait/blocked_waits.hpp"
#include "runtime/wait/pollable.hpp"
#include "runtime/wait/reason.hpp"
#include "runtime/wait/waiting_threads.hpp"

namespace tutti {

class Tracer;

/// Observer of the program's MPI calls, in all its threads.
class CallObserver {
public:
    virtual ~CallObserver() = default;
    virtual void enter(Function function, void const* site) = 0;
    virtual void leave() = 0;
};

/// The observers of one rank. Must be set up before there are threads; the methods about waits must be called with
/// the rank's lock held.
class Observers {
public:
    using WaitingThread = WaitingThreads::WaitingThread;

    /// Both must stay valid as long as this object.
    Observers(Segment const& segment, RankState& rank_state);

    CallObserver* calls = nullptr;   ///< called around each call, with the lock not held; null: none
    Tracer* tracer = nullptr;        ///< null: tracing is off

    /// Callback, called when a wait becomes long, at each of its later polls without progress, and whenever the
    /// launcher queries the rank.
    void set_long_wait_callback(void (*callback)(void const* context), void const* context) {
        on_long_wait_ = callback;
        long_wait_context_ = context;
    }
    /// Same for a rank that no launcher of ours supervises; `waited_ns`: duration of the wait so far.
    void set_unsupervised_callback(void (*callback)(void const* context, std::int64_t waited_ns), void const* context) {
        unsupervised_ = callback;
        unsupervised_context_ = context;
    }
    /// Declares threads that never call MPI, by gettid(), and therefore release no wait.
    void exempt(std::vector<pid_t> threads) { blocked_waits_.exempt(std::move(threads)); }
    /// Returns true if the program's calls have an observer.
    bool observes_calls() const { return tracer || calls; }

    /// The state of the rank apart from the leader's wait.
    struct RankWaits {
        WaitingThreads const& threads;
        Pollables const& pollables;
        bool multithreaded;
        pid_t progress_thread;   ///< gettid() of the progress thread; 0: none
    };
    /// Publishes a wait if it has lasted long enough and fits the rank's budget. Must be called by the waiting
    /// thread, since only it can walk its stack. Returns true if the wait is published.
    bool publish(WaitingThread& wait, Reason const& reason);
    /// Called after a poll of the leader without progress: publishes all waits as they are now if that is due, and
    /// answers the launcher if its query preceded the poll. Returns true if a query has arrived since; the next poll
    /// then follows immediately.
    bool on_empty_poll(WaitingThread& wait, Reason const& reason, RankWaits const& rank);
    /// Called when a wait is over.
    void end_wait(WaitingThread const& wait, std::int64_t now);

private:
    void publish_all(WaitingThread const& leader, RankWaits const& rank);
    void answer(std::uint64_t query, WaitingThread const& leader, RankWaits const& rank);
    void notify_long_wait() const {
        if (on_long_wait_) on_long_wait_(long_wait_context_);
    }

    Segment const& segment_;
    Blocked& blocked_;
    std::int64_t const force_publish_ns_;   ///< a wait of this duration is published regardless of the budget
    BlockedWaits blocked_waits_;
    std::uint64_t noticed_query_ = 0;                       ///< the launcher's last query that was noticed
    void (*on_long_wait_)(void const* context) = nullptr;   ///< null: none
    void const* long_wait_context_ = nullptr;
    void (*unsupervised_)(void const* context, std::int64_t waited_ns) = nullptr;   ///< null: supervised
    void const* unsupervised_context_ = nullptr;
};

}   // namespace tutti
