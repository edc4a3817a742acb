// SPDX-License-Identifier: BSD-3-Clause
// Balances ranks over cores. Ranks that wait for each other are as slow as the core with the most ranks, and the
// kernel takes tenths of a second to move one: each rank has just run, so none seems worth moving
// (sched_migration_cost), and two ranks that sleep alternately are never both runnable when it checks. Therefore each
// rank periodically publishes where it runs, and a rank that finds at least two more ranks on its core than on
// another permitted one moves there. Its affinity is not restricted.
//
// Where ranks outnumber cores, sleeping ranks do not count, and no decision is made while a rank that is awake has
// not been seen for long: such ranks compute, and the kernel places them better. Where each rank can have its own
// core, sleeping ranks count where they last ran, because they wake up there; and a rank whose core is taken by
// another program (contention.hpp) moves to a core without ranks.
//
// One rank of a node moves at a time, and each rank moves less often the more often it had to, so that it does not keep
// fighting a kernel that knows of other programs. The exception is two ranks on one core where each could have its own:
// they move apart every few milliseconds, because next to a thread that never sleeps the kernel puts them together
// again whenever one of them sleeps, and together they are ten times as slow. Only speed depends on all this, so stale
// values are harmless.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/memory/segment.hpp"

namespace tutti {

/// Scheduler queries about the calling thread; tests replace them by simulated cores. Processing units have the
/// kernel's numbers.
class Scheduler {
public:
    virtual ~Scheduler() = default;
    /// Returns the processing unit on which the thread runs.
    virtual int current_unit() const = 0;
    /// Returns the processing units on which it may run.
    virtual std::vector<int> units() const = 0;
    /// Moves the thread to `unit`, then restores its affinity. Returns false if the system does not allow it.
    virtual bool move_to(int unit) const = 0;
};
Scheduler const& kernel_scheduler();

/// The balancer of one rank. Not thread-safe.
class CoreBalancer {
public:
    /// The segment and the scheduler must stay valid as long as this object.
    CoreBalancer(Segment const& segment, unsigned rank, Scheduler const& scheduler = kernel_scheduler());

    /// Called at the end of a wait. `now` is now_ns(); `contended`: another program has recently taken the core.
    void update(std::int64_t now, bool contended = false) {
        if (now >= next_check_) recheck(now, contended);
    }

private:
    void recheck(std::int64_t now, bool contended);
    void publish(int unit, std::int64_t now);
    void count_shared_time(bool shares, std::int64_t now);
    bool count_awake_ranks(std::int64_t now);
    bool count_all_ranks(int current, std::int64_t now);
    int less_loaded_unit(int current, bool contended, std::int64_t now);
    void move(int unit, std::int64_t now);

    Segment const& segment_;
    unsigned const rank_;
    Scheduler const& scheduler_;
    std::int64_t const check_interval_;
    std::int64_t shared_since_ = 0;   ///< since when the core is shared though another has no rank; 0: not shared
    std::int64_t next_check_ = 0, next_move_ = 0, last_move_ = 0, pause_;
    std::int64_t next_move_apart_ = 0;      ///< for a rank that shares its core with another without need
    bool const oversubscribed_;             ///< more ranks than cores
    int imbalances_ = 0;                    ///< consecutive checks that found an imbalance
    bool shares_with_rank_ = false;         ///< at the last count, another rank had recently run here
    std::uint32_t awake_ranks_ = 0;         ///< ranks at the last count,
    std::vector<std::uint32_t> ranks_on_;   ///< and ranks per processing unit
};

}   // namespace tutti
