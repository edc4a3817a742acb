// SPDX-License-Identifier: BSD-3-Clause
// Whether a rank has its core to itself, learned from the clock.
//
// Other programs, other jobs, other scheduling groups, CPU quotas and a hypervisor take a core away in one way: time
// passes between two readings of the clock although the thread did nothing but poll. Such a gap, and a yield that took
// as long, is evidence that the core is shared. The evidence holds for a while, and longer when it repeats.
//
// sched_yield(2) alone says less. It acts within the caller's scheduling group, so a yield to a thread of another
// group (another session, control group or container) returns at once: it gave nothing away. How long that takes, and
// whether yields reach other threads, is learned from the kernel's count of switches.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include <sched.h>

#include "runtime/base/clock.hpp"

namespace tutti {

/// What the threads of one rank have learned. Any thread may call at any time: only speed depends on the answers.
class Contention {
public:
    /// The first is about a time slice: longer ones cost more than they save beside short bursts.
    static constexpr std::int64_t first_hold_ns = 4'000'000, longest_hold_ns = 640'000'000;
    /// Evidence that comes so soon after the last one has lapsed repeats it, and holds twice as long.
    static constexpr std::int64_t soon_ns = 10'000'000;
    /// No time slice is shorter. A shorter gap is an interrupt.
    static constexpr std::int64_t lost_slice_ns = 300'000;
    /// A yield that returns sooner has let no other thread run: at first, and the least and the most that is learned.
    static constexpr std::int64_t useless_yield_ns = 700, least_useless_yield_ns = 300, most_useless_yield_ns = 5'000;

    /// What a yield was worth: no other thread ran; others did; it cost a time slice, which is evidence.
    enum class Yield { useless, useful, lost_slice };

    /// Called before there are threads. `learns` false: the core counts as unshared whatever the clock says.
    /// `ranks_per_core`: above 1, yields take long although no other program runs, for each rank has its turn.
    void configure(bool learns, std::uint32_t ranks_per_core) {
        learns_ = learns;
        crowded_ = ranks_per_core > 1;
        long_yield_ns_ = std::max<std::int64_t>(lost_slice_ns, 100'000 * std::int64_t{ranks_per_core});
    }
    /// Ranks outnumber cores.
    bool crowded() const { return crowded_; }

    /// There is evidence that still holds at `now` (now_ns()).
    bool shared(std::int64_t now) const { return now < until_.load(std::memory_order_relaxed); }
    /// The same, and keeps the answer for shared().
    bool update(std::int64_t now) {
        bool const answer = shared(now);
        shared_.store(answer, std::memory_order_relaxed);
        return answer;
    }
    /// Without a clock: the answer of the last update().
    bool shared() const { return shared_.load(std::memory_order_relaxed); }

    /// Gives the core to other threads of the scheduling group once. Returns how long that took in nanoseconds.
    static std::int64_t yield() {
        std::int64_t const before = now_ns();
        sched_yield();
        return now_ns() - before;
    }
    /// A yield of the calling thread that ended at `now` took so long.
    Yield note_yield(std::int64_t took, std::int64_t now) {
        if (took >= long_yield_ns_) return note_long_yield(now);
        count_yield(took);
        return took < useless_yield_ns_.load(std::memory_order_relaxed) ? Yield::useless : Yield::useful;
    }
    /// The kernel took the core away from a thread so many times while it yielded so many times, which took so long
    /// together.
    void note_switches(long switches, int yields, std::int64_t took);
    /// More than a third of the last yields let other threads run for a moment: so there are some in the caller's
    /// scheduling group. Then a useless yield says that the core is idle; else it may be another group's turn.
    bool has_neighbours() const { return neighbours_.load(std::memory_order_relaxed); }
    /// How often the kernel has taken the core away from the calling thread. Takes 0.3 µs.
    static long involuntary_switches();
    /// So much time passed until `now` while the thread only polled. Returns true if that is evidence.
    bool note_gap(std::int64_t gap, std::int64_t now) { return gap >= lost_slice_ns && note(now); }

private:
    bool note(std::int64_t now) {
        if (!learns_) return false;
        std::int64_t const until = until_.load(std::memory_order_relaxed), hold = hold_.load(std::memory_order_relaxed);
        std::int64_t const next = now < until + soon_ns ? std::min(2 * hold, longest_hold_ns) : first_hold_ns;
        hold_.store(next, std::memory_order_relaxed);
        until_.store(now + next, std::memory_order_relaxed);
        return true;
    }

    Yield note_long_yield(std::int64_t now);
    void count_yield(std::int64_t took);

    bool learns_ = true, crowded_ = false;
    std::atomic<bool> shared_{false};
    std::atomic<bool> neighbours_{false};
    std::atomic<std::int64_t> useless_yield_ns_{useless_yield_ns};
    std::int64_t long_yield_ns_ = lost_slice_ns;
    std::atomic<std::int64_t> until_{0}, hold_{first_hold_ns};
};

}   // namespace tutti
