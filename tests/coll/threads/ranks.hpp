// SPDX-License-Identifier: BSD-3-Clause
// Ranks of one test as fibers: one thread runs all of them, each until it waits, in an order that a seed decides. A
// failure can therefore be repeated, a deadlock is found when it happens, and no core spins. The seed is taken from
// TUTTI_TEST_SEED, else by chance, and printed with each failure. ThreadSanitizer, which checks memory order,
// treats each rank as a thread.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

namespace tutti::coll::test {

/// Runs `body(rank)` for the ranks 0 … ranks − 1 at the same time and returns when all have ended. An exception that
/// leaves it, and a state in which no rank can go on, end the program after a line with `describe()`.
void run_as_ranks(int ranks, std::function<void(int)> const& body, std::function<std::string()> const& describe = {});

/// A condition of a waiting rank, tested by whichever rank runs. Does not own what it refers to and allocates nothing.
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

/// Returns when the condition holds. Called by a rank; the others run meanwhile.
template <class F>
void wait_until(F holds) {
    wait_until(Condition(holds));
}

/// A place where the calling rank may be interrupted: now and then another one runs first.
void may_switch_rank();

/// Ranks wait here for each other; the last one to come calls `complete` before any goes on.
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
