// SPDX-License-Identifier: BSD-3-Clause
// Ranks of one test as fibers: one thread runs all ranks, each until it waits, in an order that a seed determines.
// Failures are therefore reproducible, a deadlock is found when it occurs, and no core spins. The seed is
// TUTTI_TEST_SEED, else random, and is printed with each failure. ThreadSanitizer treats each rank as a thread.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

namespace tutti::coll::test {

/// Runs `body(rank)` for the ranks 0 … ranks − 1 concurrently and returns when all have ended. If an exception leaves a
/// body, or if no rank can continue, prints a line with `describe()` and ends the program.
void run_as_ranks(int ranks, std::function<void(int)> const& body, std::function<std::string()> const& describe = {});

/// The condition that a rank waits for, tested by the running rank. Does not own its function; allocates nothing.
class Condition {
public:
    template <class F>
    explicit Condition(F& holds) : of_(&holds), holds_([](void* f) -> bool { return (*static_cast<F*>(f))(); }) {}
    bool holds() const { return holds_(of_); }

private:
    void* of_;
    bool (*holds_)(void*);
};
void wait_until(Condition const& condition);

/// Returns when the condition holds. Called by a rank; the other ranks run meanwhile.
template <class F>
void wait_until(F holds) {
    wait_until(Condition(holds));
}

/// Switches to another rank now and then.
void may_switch_rank();

/// A barrier of ranks; the last one to arrive calls `complete` before any rank continues.
class RankBarrier {
public:
    explicit RankBarrier(int ranks, std::function<void()> complete = {})
        : ranks_(ranks), complete_(std::move(complete)) {}

    void arrive_and_wait() {
        unsigned const round = round_.load(std::memory_order_relaxed);
        if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 < ranks_)
            return wait_until([&] { return round_.load(std::memory_order_acquire) != round; });
        if (complete_) complete_();
        arrived_.store(0, std::memory_order_relaxed);
        round_.store(round + 1, std::memory_order_release);
    }

private:
    int const ranks_;
    std::function<void()> const complete_;
    std::atomic<int> arrived_{0};
    std::atomic<unsigned> round_{0};
};

}   // namespace tutti::coll::test
