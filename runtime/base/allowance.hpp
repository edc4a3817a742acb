// SPDX-License-Identifier: BSD-3-Clause
// Time budget of a rank for diagnosis: 1 % of its time, however much there is to do. Ranks that share a core have 1 %
// of it together, so that diagnosis never becomes the reason for long waits.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tutti {

/// The time that a rank has saved up for diagnosis. Not thread-safe: the owner uses it with the rank's lock held.
class Allowance {
public:
    /// Nanoseconds that must pass for each nanosecond that may be spent.
    static constexpr std::int64_t cost_ratio = 100;
    /// The initial and maximum savings of one rank, and of all ranks that share a core.
    static constexpr std::int64_t max_saved_ns = 1'000'000, max_saved_on_core_ns = 16'000'000;
    /// Whatever was spent, some time is granted again after this pause. A single indivisible action, such as the first
    /// walk of the stack, may therefore take more than its share.
    static constexpr std::int64_t max_pause_ns = 1'000'000'000;

    /// `sharing`: number of ranks per core, at least 1.
    explicit Allowance(std::int64_t sharing = 1)
        : cost_ratio_(cost_ratio * sharing),
          max_balance_(std::min(max_saved_ns, max_saved_on_core_ns / sharing) * cost_ratio_), balance_(max_balance_) {}

    /// Returns the maximum savings in nanoseconds.
    std::int64_t max_ns() const { return max_balance_ / cost_ratio_; }
    /// Returns true if more than `reserve_ns` may be spent at time `now`, as returned by now_ns().
    bool grants(std::int64_t now, std::int64_t reserve_ns = 0) {
        if (last_ != 0) balance_ = std::min(balance_ + std::max<std::int64_t>(now - last_, 0), max_balance_);
        last_ = now;
        return balance_ > reserve_ns * cost_ratio_;
    }
    /// Records time spent. It may exceed the balance; nothing is then granted until the deficit has been made up.
    void spend(std::int64_t ns) { balance_ = std::max(balance_ - ns * cost_ratio_, -max_pause_ns); }

private:
    std::int64_t cost_ratio_;
    std::int64_t max_balance_;   ///< maximum of balance_, in elapsed nanoseconds
    std::int64_t balance_;       ///< savings, in elapsed nanoseconds
    std::int64_t last_ = 0;      ///< time of the last call of grants()
};

}   // namespace tutti
