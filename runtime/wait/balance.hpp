// SPDX-License-Identifier: BSD-3-Clause
// As many ranks on each core, where there are more ranks than cores. Ranks that wait for each other are as slow as the
// core with the most of them, and the kernel takes tenths of a second to move one: each has just run, so none seems
// worth it (sched_migration_cost). So each shows now and then where it runs, and one that finds at least two more on
// its core than on another where it may run moves there. It stays free to run anywhere.
//
// Who sleeps does not count, nor is anything decided while somebody awake has not shown itself for long: those compute,
// and the kernel's own view is the better one. One rank of a node moves at a time, and each ever more rarely the more
// often it had to, so that nobody fights for long with a kernel that knows of other programs. Only speed depends on all
// this: what is read may be old.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/memory/segment.hpp"

namespace tutti {

/// What is asked of the kernel about the calling thread; tests put pretended cores in its place. Processing units have
/// the kernel's numbers.
class Scheduler {
public:
    virtual ~Scheduler() = default;
    /// Where it runs.
    virtual int unit_here() const = 0;
    /// Where it may run.
    virtual std::vector<int> units() const = 0;
    /// Runs it there, and lets it run again wherever it might before. False: the system does not allow it.
    virtual bool move_to(int unit) const = 0;
};
Scheduler const& kernel_scheduler();

/// A rank's part. For one thread.
class Balance {
public:
    /// The segment and the scheduler outlive it.
    Balance(Segment const& segment, unsigned rank, Scheduler const& scheduler = kernel_scheduler());

    /// At the end of a wait: `now` is now_ns().
    void look(std::int64_t now) {
        if (now >= next_look_) look_again(now);
    }

private:
    void look_again(std::int64_t now);
    void show(int unit, std::int64_t now);
    bool count_ranks(std::int64_t now);
    int emptier_unit(int here, std::int64_t now);
    void move(int unit, std::int64_t now);

    Segment const& segment_;
    unsigned const rank_;
    Scheduler const& scheduler_;
    std::int64_t const look_every_;
    std::int64_t next_look_ = 0, next_move_ = 0, last_move_ = 0, pause_;
    int uneven_ = 0;                        ///< looks in a row
    std::uint32_t awake_ = 0;               ///< ranks at the last count,
    std::vector<std::uint32_t> ranks_on_;   ///< and those on each unit
};

}   // namespace tutti
