// SPDX-License-Identifier: BSD-3-Clause
// Counts ranks per processing unit and moves the calling thread.
#include "runtime/wait/core_balancer.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <cstdint>

#include <sched.h>
#include <unistd.h>

#include "topo/this_machine.hpp"

namespace tutti {
namespace {

constexpr std::int64_t microsecond = 1000, millisecond = 1000 * microsecond;
constexpr std::int64_t min_check_interval = 100 * microsecond, check_interval_per_rank = 5 * microsecond;
constexpr std::int64_t max_position_age = 20 * millisecond;
constexpr std::int64_t node_move_interval = 50 * microsecond;   // per node
// Per rank, between two moves.
constexpr std::int64_t min_pause = 10 * millisecond, max_pause = 10'000 * millisecond;
constexpr std::int64_t move_apart_pause = 5 * millisecond;
constexpr int imbalances_before_move = 3;

/// A rank's published position: unit + 1 in 16 bits, and the time in units of 1.024 µs. 0: nothing published yet.
constexpr int unit_bits = 16;
constexpr std::uint64_t encode(int unit, std::int64_t now) {
    return static_cast<std::uint64_t>(now >> 10) << unit_bits | static_cast<std::uint64_t>(unit + 1);
}
constexpr int unit_of(std::uint64_t position) { return static_cast<int>(position & ((1 << unit_bits) - 1)) - 1; }
constexpr std::int64_t time_of(std::uint64_t position) {
    return static_cast<std::int64_t>(position >> unit_bits) << 10;
}

class KernelScheduler : public Scheduler {
public:
    int current_unit() const override { return sched_getcpu(); }
    std::vector<int> units() const override { return topo::affinity_pus(); }

    // The kernel remembers the requested affinity, and keeps applying it when the process is later given more units.
    // Usually no affinity was requested; in that case all units are requested, of which the kernel grants the
    // permitted ones. If these are not the units from before, an affinity was requested, and it is restored.
    bool move_to(int unit) const override {
        Mask before{}, one{}, all_units, after{};
        if (unit < 0 || unit >= mask_bits || !get(before)) return false;
        constexpr int bits = CHAR_BIT * sizeof(unsigned long);
        one[static_cast<std::size_t>(unit / bits)] = 1ul << unit % bits;
        if (!set(one)) return false;
        all_units.fill(~0ul);
        if (!set(all_units) || !get(after) || after != before) set(before);
        return true;
    }

private:
    static constexpr int mask_bits = 8192;
    using Mask = std::array<unsigned long, mask_bits / (CHAR_BIT * sizeof(unsigned long))>;

    static bool get(Mask& mask) {
        return sched_getaffinity(0, sizeof mask, reinterpret_cast<cpu_set_t*>(mask.data())) == 0;
    }
    static bool set(Mask const& mask) {
        return sched_setaffinity(0, sizeof mask, reinterpret_cast<cpu_set_t const*>(mask.data())) == 0;
    }
};

}   // namespace

Scheduler const& kernel_scheduler() {
    static KernelScheduler const scheduler;
    return scheduler;
}

// Where a thousand ranks share a few cores each runs rarely, and checking all of them takes a while, so the
// interval between checks grows with the number of ranks.
CoreBalancer::CoreBalancer(Segment const& segment, unsigned rank, Scheduler const& scheduler)
    : segment_(segment), rank_(rank), scheduler_(scheduler),
      check_interval_(std::max(min_check_interval, check_interval_per_rank * segment.ranks())), pause_(min_pause),
      oversubscribed_(segment.header().oversubscribed()) {}

void CoreBalancer::publish(int unit, std::int64_t now) {
    segment_.runs_on(rank_).store(encode(unit, now), std::memory_order_relaxed);
}

void CoreBalancer::recheck(std::int64_t now, bool contended) {
    next_check_ = now + check_interval_;
    int const current = scheduler_.current_unit();
    if (current < 0) return;
    publish(current, now);
    int const target = !oversubscribed_ || now >= next_move_ ? less_loaded_unit(current, contended, now) : -1;
    bool const shares = target >= 0 && !oversubscribed_ && shares_with_rank_;
    count_shared_time(shares, now);
    bool const may_move = now >= (shares ? next_move_apart_ : next_move_);
    imbalances_ = target < 0 || !may_move ? 0 : imbalances_ + 1;
    if (imbalances_ < imbalances_before_move) return;
    std::atomic<std::int64_t>& last = segment_.header().last_core_move;
    std::int64_t before = last.load(std::memory_order_relaxed);
    if (now - before >= node_move_interval && last.compare_exchange_strong(before, now, std::memory_order_relaxed))
        move(target, now);
}

void CoreBalancer::count_shared_time(bool shares, std::int64_t now) {
    if (shares && shared_since_ != 0)
        segment_.rank_state(rank_).times.shared_core.add(static_cast<std::uint64_t>(now - shared_since_));
    shared_since_ = shares ? now : 0;
}

/// Counts the ranks that are awake. Returns false if one of them has not been seen for long.
bool CoreBalancer::count_awake_ranks(std::int64_t now) {
    std::fill(ranks_on_.begin(), ranks_on_.end(), 0);
    awake_ranks_ = 0;
    for (unsigned rank = 0; rank < segment_.ranks(); ++rank) {
        bool const asleep = segment_.wait_target(rank).load(std::memory_order_relaxed) != 0;
        std::uint64_t const word = segment_.runs_on(rank).load(std::memory_order_relaxed);
        if (word == 0 || (asleep && rank != rank_)) continue;
        if (now - time_of(word) > max_position_age + check_interval_) return false;
        auto const unit = static_cast<std::size_t>(unit_of(word));
        if (unit >= ranks_on_.size()) ranks_on_.resize(unit + 1);
        ++ranks_on_[unit];
        ++awake_ranks_;
    }
    return true;
}

/// Counts all ranks where they were last seen, for nodes with a core per rank. Returns false if a rank was never
/// seen.
bool CoreBalancer::count_all_ranks(int current, std::int64_t now) {
    std::fill(ranks_on_.begin(), ranks_on_.end(), 0);
    shares_with_rank_ = false;
    bool all = true;
    for (unsigned rank = 0; rank < segment_.ranks(); ++rank) {
        std::uint64_t const word = segment_.runs_on(rank).load(std::memory_order_relaxed);
        if (word == 0) {
            all = false;
            continue;
        }
        auto const unit = static_cast<std::size_t>(unit_of(word));
        if (unit >= ranks_on_.size()) ranks_on_.resize(unit + 1);
        ++ranks_on_[unit];
        if (rank != rank_ && unit_of(word) == current && now - time_of(word) <= max_position_age + check_interval_)
            shares_with_rank_ = true;
    }
    return all;
}

/// Returns a permitted unit with at least two ranks fewer than this one, or with none if this core is contended; −1:
/// none.
int CoreBalancer::less_loaded_unit(int current, bool contended, std::int64_t now) {
    std::uint32_t fewer = 2;
    if (oversubscribed_) {
        if (!count_awake_ranks(now)) return -1;
        std::uint32_t const awake_here = ranks_on_[static_cast<std::size_t>(current)];
        if (awake_here < 2 || awake_here <= awake_ranks_ / segment_.header().usable_cores) return -1;
    } else {
        bool const all = count_all_ranks(current, now);
        if (!shares_with_rank_ && !(contended && all)) return -1;
        if (!shares_with_rank_) fewer = 1;
    }
    std::uint32_t const ranks_here = ranks_on_[static_cast<std::size_t>(current)];
    auto const ranks_on = [&](int unit) {
        auto const at = static_cast<std::size_t>(unit);
        return at < ranks_on_.size() ? ranks_on_[at] : 0;
    };
    std::vector<int> const units = scheduler_.units();
    if (units.empty()) return -1;
    int const least = *std::ranges::min_element(units, {}, ranks_on);
    return ranks_here >= ranks_on(least) + fewer ? least : -1;
}

void CoreBalancer::move(int unit, std::int64_t now) {
    imbalances_ = 0;
    if (!scheduler_.move_to(unit)) {
        next_move_ = next_move_apart_ = INT64_MAX;
        return;
    }
    publish(unit, now);
    segment_.rank_state(rank_).times.core_moves.add(1);
    pause_ = last_move_ != 0 && now - last_move_ < 8 * pause_ ? std::min(2 * pause_, max_pause) : min_pause;
    last_move_ = now;
    next_move_ = now + pause_;
    next_move_apart_ = now + move_apart_pause;
}

}   // namespace tutti
