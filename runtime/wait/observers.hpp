// SPDX-License-Identifier: BSD-3-Clause
// Observers of a rank's calls and long waits: the trace, the check of the program's threads, the comparison of calls,
// and the launcher, which shows the user why a rank does not progress and detects deadlocks.
//
// Published waits serve the user alone and are bounded in time (BlockedWaits, Allowance). The launcher queries again
// before it relies on one: a rank answers a query when all its threads sleep in published waits and all their
// conditions were false at a check after the query.
#pragma once

#include <cstdint>
#include <vector>

#include <sys/types.h>

#include "runtime/base/function.hpp"
#include "runtime/memory/segment.hpp"
#include "runtime/wait/blocked_waits.hpp"
#include "runtime/wait/pollable.hpp"
#include "runtime/wait/reason.hpp"
#include "runtime/wait/waiting_threads.hpp"

namespace tutti {

class Tracer;

/// Observer of what one rank does: the checks of its calls, and the watchdog. What an observer does not override is not
/// observed.
class Observer {
public:
    virtual ~Observer() = default;
    /// Called around each MPI call of the program, in all its threads, with the rank's lock not held.
    virtual void enter(Function, void const* /*site*/) {}
    virtual void leave() {}
    /// Called with the lock held: when a wait becomes long, at its later polls without progress unless they answer the
    /// launcher, and while the rank is recorded as polling. `waited_ns`: duration of the wait, or of the polling.
    virtual void on_long_wait(std::int64_t /*waited_ns*/) {}
};

/// The observers of one rank. Must be set up before there are threads; the methods about waits must be called with
/// the rank's lock held.
class Observers {
public:
    using WaitingThread = WaitingThreads::WaitingThread;

    /// Both must stay valid as long as this object.
    Observers(Segment const& segment, RankState& rank_state);

    Observer* calls = nullptr;   ///< observes calls; null: none
    Tracer* tracer = nullptr;    ///< null: tracing is off

    /// Adds an observer of long waits, which must stay valid as long as this object.
    void add(Observer& observer) { long_waits_.push_back(&observer); }
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
    void notify_long_wait(std::int64_t waited_ns) const {
        for (Observer* observer : long_waits_) observer->on_long_wait(waited_ns);
    }

    Segment const& segment_;
    Blocked& blocked_;
    std::int64_t const force_publish_ns_;   ///< a wait of this duration is published regardless of the budget
    BlockedWaits blocked_waits_;
    std::uint64_t noticed_query_ = 0;   ///< the launcher's last query that was noticed
    std::vector<Observer*> long_waits_;
};

}   // namespace tutti
