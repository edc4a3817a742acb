// SPDX-License-Identifier: BSD-3-Clause
// Detects by the clock whether a rank has its core to itself.
//
// Other programs, other jobs, other scheduling groups, CPU quotas and a hypervisor all take a core away in the same
// visible way: time passes between two readings of the clock although the thread did nothing but poll. Such a gap, or
// a yield that took as long, is evidence that the core is shared. The evidence expires after a while, later if it
// repeats.
//
// sched_yield(2) alone is a weaker signal. It acts within the caller's scheduling group, so a yield returns
// immediately, without effect, if the other thread belongs to another group (another session, control group or
// container). How long a useless yield takes, and whether yields reach other threads, is learned from the kernel's
// count of context switches.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include <sched.h>

#include "runtime/base/clock.hpp"

namespace tutti {

/// What the threads of one rank have observed about their cores. Thread-safe; only speed depends on the answers.
class Contention {
public:
    /// How long evidence holds. The first period is about a time slice: longer ones cost more than they save with
    /// short bursts.
    static constexpr std::int64_t initial_hold_ns = 4'000'000, max_hold_ns = 640'000'000;
    /// Evidence that arrives this soon after the previous evidence has expired repeats it, and holds twice as long.
    static constexpr std::int64_t repeats_within_ns = 10'000'000;
    /// No time slice is shorter than this; a shorter gap is an interrupt.
    static constexpr std::int64_t lost_slice_ns = 300'000;
    /// A faster yield let no other thread run: the initial limit, and the bounds of the learned one.
    static constexpr std::int64_t useless_yield_ns = 700, min_useless_yield_ns = 300, max_useless_yield_ns = 5'000;

    /// Effect of a yield: no other thread ran; others ran; it cost a time slice, which is evidence of contention.
    enum class Yield { useless, useful, lost_slice };

    /// Must be called before there are threads. `adapts` false: the core always counts as unshared. `ranks_per_core`:
    /// above 1, yields take long even without other programs, because each rank gets its turn.
    void configure(bool adapts, std::uint32_t ranks_per_core) {
        adapts_ = adapts;
        oversubscribed_ = ranks_per_core > 1;
        long_yield_ns_ = std::max<std::int64_t>(lost_slice_ns, 100'000 * std::int64_t{ranks_per_core});
    }
    /// Returns true if ranks outnumber cores.
    bool oversubscribed() const { return oversubscribed_; }

    /// Returns true if evidence of contention still holds at `now` (now_ns()).
    bool is_shared(std::int64_t now) const { return now < shared_until_.load(std::memory_order_relaxed); }
    /// Same as is_shared(now), and stores the answer for is_shared().
    bool update(std::int64_t now) {
        bool const answer = is_shared(now);
        shared_.store(answer, std::memory_order_relaxed);
        return answer;
    }
    /// Returns the answer of the last update(), without reading the clock.
    bool is_shared() const { return shared_.load(std::memory_order_relaxed); }

    /// Yields the core once to other threads of the scheduling group. Returns the duration in nanoseconds.
    static std::int64_t yield() {
        std::int64_t const before = now_ns();
        sched_yield();
        return now_ns() - before;
    }
    /// Records a yield of the calling thread that took `duration_ns` and ended at `now`.
    Yield record_yield(std::int64_t duration_ns, std::int64_t now) {
        if (duration_ns >= long_yield_ns_) return record_long_yield(now);
        count_yield(duration_ns);
        return duration_ns < useless_yield_ns_.load(std::memory_order_relaxed) ? Yield::useless : Yield::useful;
    }
    /// Records that the kernel switched a thread out `switches` times during `yields` yields, which took
    /// `duration_ns` in total.
    void record_switches(long switches, int yields, std::int64_t duration_ns);
    /// Returns true if more than a third of the last yields let other threads run, so the caller's scheduling group
    /// has other ready threads. A useless yield then means that the core is idle; otherwise it may be the turn of
    /// another group.
    bool has_neighbours() const { return neighbours_.load(std::memory_order_relaxed); }
    /// Returns how often the kernel has switched out the calling thread involuntarily. Takes 0.3 µs.
    static long involuntary_switches();
    /// Records that `gap` nanoseconds passed until `now` while the thread only polled. Returns true if that is
    /// evidence.
    bool record_gap(std::int64_t gap, std::int64_t now) { return gap >= lost_slice_ns && add_evidence(now); }

private:
    bool add_evidence(std::int64_t now) {
        if (!adapts_) return false;
        std::int64_t const until = shared_until_.load(std::memory_order_relaxed),
                           hold = hold_.load(std::memory_order_relaxed);
        std::int64_t const next = now < until + repeats_within_ns ? std::min(2 * hold, max_hold_ns) : initial_hold_ns;
        hold_.store(next, std::memory_order_relaxed);
        shared_until_.store(now + next, std::memory_order_relaxed);
        return true;
    }

    Yield record_long_yield(std::int64_t now);
    void count_yield(std::int64_t duration_ns);

    bool adapts_ = true, oversubscribed_ = false;
    std::atomic<bool> shared_{false};
    std::atomic<bool> neighbours_{false};
    std::atomic<std::int64_t> useless_yield_ns_{useless_yield_ns};
    std::int64_t long_yield_ns_ = lost_slice_ns;
    std::atomic<std::int64_t> shared_until_{0}, hold_{initial_hold_ns};
};

}   // namespace tutti
