// SPDX-License-Identifier: BSD-3-Clause
// The one wait: the only place that spins, yields or sleeps. Whoever waits gives a condition and a reason.
//
// Policies: dedicated (spin with pause, and yield at times), shared (a few polls, then sched_yield), and, after
// `sleep_after` milliseconds without progress, asleep on the futex of the rank's card.
//
// Sleeping, argued: the sleeper (1) counts itself in header.sleepers and marks its card, (2) runs membarrier, (3) looks
// at its condition once more, (4) sleeps while card.wake is unchanged since before (1). A writer stores its flag, then
// reads header.sleepers. Either the writer's read comes after (1) and it wakes the sleeper, or its store came before
// the barrier (2) and the sleeper sees it in (3). The barrier runs on all cores in (2) so that writers need none on
// their fast path; where membarrier is missing the bounded sleep (10 ms) takes its place.
//
// Threads: several of a rank may wait at once. Conditions are looked at and everything is polled inside the rank's gate
// (runtime/gate.hpp), yields and sleeps are outside it, and a thread that polls hands the gate to one that wants to
// come in. What one thread completes that another waits for is a store like any other: who does so calls
// wake_sleepers before leaving the gate, and since (1) and (3) are inside, too, nobody's look is between the two.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "runtime/clock.hpp"
#include "runtime/flag.hpp"
#include "runtime/gate.hpp"
#include "runtime/segment.hpp"

namespace tutti {

enum class WaitPolicy { dedicated, shared };

/// Why a rank waits; costs nothing until the wait is long, then it is written on the rank's card.
struct Reason {
    char const* operation = "";   ///< the MPI call, static storage
    int peer = -1;                ///< world rank waited for, −1: several or unknown
    int tag = -1;
    std::uint64_t context = 0;    ///< of the communicator
};

/// Something that moves communication on when it is called: the transports, and suspended operations.
class Pollable {
public:
    virtual ~Pollable() = default;
    /// Moves on what can be moved on without waiting; true when anything moved.
    virtual bool poll() = 0;
};

class Waiter {
public:
    /// `sleep_after_ms` 0: never sleeps. `segment` and the gate must outlive the waiter.
    Waiter(Segment const& segment, unsigned rank, WaitPolicy policy, long sleep_after_ms, Gate& gate);

    /// Whom to poll while waiting; a process has one or two (transport, operations in flight).
    void attach(Pollable* pollable);
    void detach(Pollable* pollable);

    /// Moves everything attached on by one step.
    bool progress() {
        bool moved = false;
        for (int i = 0; i < pollables_; ++i) moved |= pollable_[i]->poll();
        return moved;
    }

    /// Returns when `ready()` is true. `ready` must be cheap and free of side effects other than progress of its own.
    /// Other threads of the rank may be inside the gate meanwhile, but not between the look that was true and the return.
    template <class Ready>
    void until(Ready&& ready, Reason const& why) {
        for (int i = 0; i < first_polls_; ++i) {
            if (ready()) return;
            cpu_pause();
        }
        for (Pause pause(*this, why); !ready(); pause.step()) progress() ? pause.moved() : void();
    }

    /// For calls that look once and return, such as MPI_Test: one step of progress. Where ranks or threads share cores,
    /// a program that looks again and again must not keep those it looks for from running: in vain it yields at times.
    template <class Ready>
    bool look(Ready&& ready) {
        if (ready()) return true;
        progress();
        if (ready()) return true;
        if ((policy_ == WaitPolicy::shared || gate_.on()) && ++looks_in_vain_ % 4 == 0) yield();
        return false;
    }

    /// After a store that others may wait for: wakes the ranks of this node that sleep (usually none).
    void wake_sleepers() {
        if (segment_.header().sleepers.load(std::memory_order_relaxed) != 0) [[unlikely]] wake_all();
    }

    WaitPolicy policy() const { return policy_; }

private:
    /// One long wait: decides step by step between polling, yielding and sleeping, keeps the card's reason, and counts
    /// itself and its time there.
    class Pause {
    public:
        Pause(Waiter& waiter, Reason const& why) : waiter_(waiter), why_(why), start_(now_ns()) { ++waiter.awake_; }
        ~Pause() { learn(); finish(); }
        /// Something arrived: more may follow at once, so the next look comes without a sleep.
        void moved() { since_ = 0; polls_ = 0; if (asleep_) get_up(); }
        /// Between two looks at the condition; at the sleeping stage it first only marks, so that the condition is
        /// looked at between the mark and the sleep.
        void step() {
            // Threads that wait side by side take turns.
            if (++polls_ > waiter_.polls_ || asleep_ || waiter_.awake_ > 1) relax();
            else if (waiter_.gate_.wanted()) [[unlikely]] waiter_.gate_.hand_over();
            else cpu_pause();
        }

    private:
        /// What was waited for came when the core was given away: the next time give it away sooner. It came while
        /// polling: poll longer. So two ranks that a busy machine has put on one core do not spin against each other.
        void learn() {
            int& polls = waiter_.polls_;
            if (yielded_ && polls_ == 0) polls = polls > 3 ? polls / 2 : 2;
            else if (polls < waiter_.most_polls_) polls = std::min(polls * 2, waiter_.most_polls_);
        }
        void relax();
        void announce();
        void finish();
        void get_up();
        void mark_asleep();
        void sleep();

        Waiter& waiter_;
        Reason const& why_;
        std::int64_t const start_;
        int polls_ = 0;
        bool yielded_ = false;
        std::int64_t since_ = 0;
        std::uint32_t ticket_ = 0;
        bool asleep_ = false;
    };

    void wake_all();
    void yield();

    Segment const& segment_;
    Card& card_;
    Gate& gate_;
    WaitPolicy policy_;
    std::int64_t sleep_after_ns_;
    int first_polls_, most_polls_, polls_;
    unsigned looks_in_vain_ = 0;
    int awake_ = 0;                        ///< threads of this rank that wait and do not sleep
    Pause const* announced_ = nullptr;     ///< whose reason is on the card
    Pollable* pollable_[4] = {};
    int pollables_ = 0;
};

}  // namespace tutti
