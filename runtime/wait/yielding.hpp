// SPDX-License-Identifier: BSD-3-Clause
// Giving the core away, and whether that pays. Where those who share the core wait as well, sched_yield returns within
// microseconds. Where one of them computes, or spins in a barrier of its own, it keeps the core for a whole time slice;
// who sleeps instead, and is woken, comes before those who computed meanwhile.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include <sched.h>

#include "runtime/base/clock.hpp"

namespace tutti {

/// What a rank's threads have learned of it. Any thread may call at any time: nothing but speed depends on the answer.
class Yielding {
public:
    /// Gives the core away once. Returns how long that took in nanoseconds, for `note`.
    static std::int64_t yield() {
        std::int64_t const before = now_ns();
        sched_yield();
        return now_ns() - before;
    }
    /// False for the next times after a yield that took long; twice as many when the next yield after them does so too.
    bool pays() {
        int const left = left_.load(std::memory_order_relaxed);
        if (left == 0) [[likely]]
            return true;
        left_.store(left - 1, std::memory_order_relaxed);
        return false;
    }
    /// The same without counting as one of these times.
    bool paid() const { return left_.load(std::memory_order_relaxed) == 0; }

    /// With so many ranks on each core, a yield takes long when they do no more than look, each for its turn.
    void share_core(std::uint32_t ranks) { long_ns_ = std::max<std::int64_t>(long_ns, 20'000 * std::int64_t{ranks}); }

    /// Remembers how long a yield took.
    void note(std::int64_t took) {
        if (took < long_ns_) return again_.store(first, std::memory_order_relaxed);
        int const again = again_.load(std::memory_order_relaxed);
        left_.store(again, std::memory_order_relaxed);
        again_.store(std::min(again * 2, most), std::memory_order_relaxed);
    }

private:
    static constexpr std::int64_t long_ns = 500'000;   // no time slice is shorter, no rank computes so long in passing
    static constexpr int first = 16, most = 1024;

    std::int64_t long_ns_ = long_ns;   ///< set before there are threads
    std::atomic<int> left_{0}, again_{first};
};

}   // namespace tutti
