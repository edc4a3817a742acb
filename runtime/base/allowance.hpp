// SPDX-License-Identifier: BSD-3-Clause
// How much of its time a rank may spend on diagnosis: 1 %, whatever there is to do. Ranks that share cores have 1 % of
// these cores together, so that diagnosis never becomes the reason why waits are long.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tutti {

/// Not thread-safe: its owner uses it inside the rank's lock.
class Allowance {
public:
    /// Nanoseconds that must pass for each one that is spent.
    static constexpr std::int64_t price = 100;
    /// What is saved up at the beginning, and at most: by one rank, and by all that share a core.
    static constexpr std::int64_t most_saved_ns = 1'000'000, most_saved_on_core_ns = 16'000'000;
    /// After whatever was spent, something is granted again when so much time has passed: a single act that cannot be
    /// divided, such as a first walk of the stack, may take more than its share.
    static constexpr std::int64_t longest_pause_ns = 1'000'000'000;

    /// `sharing`: how many ranks share a core, at least 1.
    explicit Allowance(std::int64_t sharing = 1)
        : price_(price * sharing), most_(std::min(most_saved_ns, most_saved_on_core_ns / sharing) * price_),
          balance_(most_) {}

    /// What it can have saved up, in nanoseconds.
    std::int64_t most() const { return most_ / price_; }
    /// Returns true if more than `reserve_ns` may be spent at `now`, by now_ns().
    bool grants(std::int64_t now, std::int64_t reserve_ns = 0) {
        if (last_ != 0) balance_ = std::min(balance_ + std::max<std::int64_t>(now - last_, 0), most_);
        last_ = now;
        return balance_ > reserve_ns * price_;
    }
    /// Records what was spent. It may be more than was left; then nothing is granted until that has been made up for.
    void spend(std::int64_t ns) { balance_ = std::max(balance_ - ns * price_, -longest_pause_ns); }

private:
    std::int64_t price_;
    std::int64_t most_;       ///< saved up, in time that has passed
    std::int64_t balance_;    ///< the same, now
    std::int64_t last_ = 0;   ///< when it was last asked
};

}   // namespace tutti
