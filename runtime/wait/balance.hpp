// SPDX-License-Identifier: BSD-3-Clause
// As many ranks on each core. Ranks that wait for each other are as slow as the core with the most of them, and the
// kernel takes tenths of a second to move one: each has just run, so none seems worth it (sched_migration_cost), and
// two that take turns in sleeping are never both ready to run when it checks. So each rank publishes now and then where
// it runs, and one that finds at least two more on its core than on another where it may run moves there. It stays free
// to run anywhere.
//
// Where ranks outnumber cores, sleeping ranks do not count, and nothing is decided while a rank that is awake has not
// been seen for long: such ranks compute, and the kernel's own view is the better one. Where each rank can have a core,
// ranks that sleep count where they have just run, for there they wake up; and a rank whose core another program takes
// away from it (contention.hpp) moves to a core where no rank runs.
//
// One rank of a node moves at a time, and each ever more rarely the more often it had to, so that none fights for long
// with a kernel that knows of other programs. Only two ranks on one core, where each can have one, move apart every few
// milliseconds: beside a thread that never sleeps the kernel brings them together again each time that one of them
// does, and there they are ten times as slow. Only speed depends on all this: what is read may be old.
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

    /// At the end of a wait: `now` is now_ns(). `contended`: another program has lately taken the core.
    void look(std::int64_t now, bool contended = false) {
        if (now >= next_look_) look_again(now, contended);
    }

private:
    void look_again(std::int64_t now, bool contended);
    void show(int unit, std::int64_t now);
    void count_shared_time(bool shares, std::int64_t now);
    bool count_ranks(std::int64_t now);
    bool count_all_ranks(int here, std::int64_t now);
    int emptier_unit(int here, bool contended, std::int64_t now);
    void move(int unit, std::int64_t now);

    Segment const& segment_;
    unsigned const rank_;
    Scheduler const& scheduler_;
    std::int64_t const look_every_;
    std::int64_t shared_since_ = 0;   ///< another rank runs here and a core has no rank; 0: not so at the last look
    std::int64_t next_look_ = 0, next_move_ = 0, last_move_ = 0, pause_;
    std::int64_t next_move_apart_ = 0;      ///< of a rank that shares its core with another although it need not
    bool const crowded_;                    ///< more ranks than cores
    int uneven_ = 0;                        ///< looks in a row
    bool with_rank_ = false;                ///< at the last count, another rank had just run here
    std::uint32_t awake_ = 0;               ///< ranks at the last count,
    std::vector<std::uint32_t> ranks_on_;   ///< and those on each unit
};

}   // namespace tutti
