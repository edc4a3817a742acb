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
constexpr std::int64_t least_between_looks = 100 * microsecond, look_at_one = 5 * microsecond;
constexpr std::int64_t longest_unseen = 20 * millisecond;
constexpr std::int64_t between_moves = 50 * microsecond;   // per node
// Per rank, between two moves.
constexpr std::int64_t least_pause = 10 * millisecond, most_pause = 10'000 * millisecond;
constexpr std::int64_t pause_of_two_on_one_core = 5 * millisecond;
constexpr int looks_before_move = 3;

/// A rank's published position: unit + 1 in 16 bits, and the time in units of 1.024 µs. 0: nothing published yet.
constexpr int unit_bits = 16;
constexpr std::uint64_t shown(int unit, std::int64_t now) {
    return static_cast<std::uint64_t>(now >> 10) << unit_bits | static_cast<std::uint64_t>(unit + 1);
}
constexpr int unit_of(std::uint64_t shown) { return static_cast<int>(shown & ((1 << unit_bits) - 1)) - 1; }
constexpr std::int64_t time_of(std::uint64_t shown) { return static_cast<std::int64_t>(shown >> unit_bits) << 10; }

class KernelScheduler : public Scheduler {
public:
    int unit_here() const override { return sched_getcpu(); }
    std::vector<int> units() const override { return topo::affinity_pus(); }

    // The kernel remembers the requested affinity, and keeps applying it when the process is later given more units.
    // Usually no affinity was requested; in that case all units are requested, of which the kernel grants the
    // permitted ones. If these are not the units from before, an affinity was requested, and it is restored.
    bool move_to(int unit) const override {
        Mask before{}, one{}, everything, after{};
        if (unit < 0 || unit >= units_of_mask || !get(before)) return false;
        constexpr int bits = CHAR_BIT * sizeof(unsigned long);
        one[static_cast<std::size_t>(unit / bits)] = 1ul << unit % bits;
        if (!set(one)) return false;
        everything.fill(~0ul);
        if (!set(everything) || !get(after) || after != before) set(before);
        return true;
    }

private:
    static constexpr int units_of_mask = 8192;
    using Mask = std::array<unsigned long, units_of_mask / (CHAR_BIT * sizeof(unsigned long))>;

    static bool get(Mask& mask) {
        return sched_getaffinity(0, sizeof mask, reinterpret_cast<cpu_set_t*>(mask.data())) == 0;
    }
    static bool set(Mask const& mask) {
        return sched_setaffinity(0, sizeof mask, reinterpret_cast<cpu_set_t const*>(mask.data())) == 0;
    }
};

}   // namespace

Scheduler const& kernel_scheduler() {
    static KernelScheduler const one;
    return one;
}

// Where a thousand ranks share a few cores each runs rarely, and checking all of them takes a while, so the
// interval between checks grows with the number of ranks.
Balance::Balance(Segment const& segment, unsigned rank, Scheduler const& scheduler)
    : segment_(segment), rank_(rank), scheduler_(scheduler),
      look_every_(std::max(least_between_looks, look_at_one * segment.ranks())), pause_(least_pause),
      crowded_(segment.header().crowded()) {}

void Balance::show(int unit, std::int64_t now) {
    segment_.runs_on(rank_).store(shown(unit, now), std::memory_order_relaxed);
}

void Balance::look_again(std::int64_t now, bool contended) {
    next_look_ = now + look_every_;
    int const here = scheduler_.unit_here();
    if (here < 0) return;
    show(here, now);
    int const there = !crowded_ || now >= next_move_ ? emptier_unit(here, contended, now) : -1;
    bool const shares = there >= 0 && !crowded_ && with_rank_;
    count_shared_time(shares, now);
    bool const may_move = now >= (shares ? next_move_apart_ : next_move_);
    uneven_ = there < 0 || !may_move ? 0 : uneven_ + 1;
    if (uneven_ < looks_before_move) return;
    std::atomic<std::int64_t>& last = segment_.header().balanced;
    std::int64_t before = last.load(std::memory_order_relaxed);
    if (now - before >= between_moves && last.compare_exchange_strong(before, now, std::memory_order_relaxed))
        move(there, now);
}

void Balance::count_shared_time(bool shares, std::int64_t now) {
    if (shares && shared_since_ != 0)
        segment_.rank_state(rank_).times.shared_core.add(static_cast<std::uint64_t>(now - shared_since_));
    shared_since_ = shares ? now : 0;
}

/// Counts the ranks that are awake. Returns false if one of them has not been seen for long.
bool Balance::count_ranks(std::int64_t now) {
    std::fill(ranks_on_.begin(), ranks_on_.end(), 0);
    awake_ = 0;
    for (unsigned rank = 0; rank < segment_.ranks(); ++rank) {
        bool const asleep = segment_.watched(rank).load(std::memory_order_relaxed) != 0;
        std::uint64_t const word = segment_.runs_on(rank).load(std::memory_order_relaxed);
        if (word == 0 || (asleep && rank != rank_)) continue;
        if (now - time_of(word) > longest_unseen + look_every_) return false;
        auto const unit = static_cast<std::size_t>(unit_of(word));
        if (unit >= ranks_on_.size()) ranks_on_.resize(unit + 1);
        ++ranks_on_[unit];
        ++awake_;
    }
    return true;
}

/// Counts all ranks where they were last seen, for nodes with a core per rank. Returns false if a rank was never
/// seen.
bool Balance::count_all_ranks(int here, std::int64_t now) {
    std::fill(ranks_on_.begin(), ranks_on_.end(), 0);
    with_rank_ = false;
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
        if (rank != rank_ && unit_of(word) == here && now - time_of(word) <= longest_unseen + look_every_)
            with_rank_ = true;
    }
    return all;
}

/// Returns a permitted unit with at least two ranks fewer than this one, or with none if this core is contended; −1:
/// none.
int Balance::emptier_unit(int here, bool contended, std::int64_t now) {
    std::uint32_t fewer = 2;
    if (crowded_) {
        if (!count_ranks(now)) return -1;
        std::uint32_t const here_too = ranks_on_[static_cast<std::size_t>(here)];
        if (here_too < 2 || here_too <= awake_ / segment_.header().usable_cores) return -1;
    } else {
        bool const all = count_all_ranks(here, now);
        if (!with_rank_ && !(contended && all)) return -1;
        if (!with_rank_) fewer = 1;
    }
    std::uint32_t const with_me = ranks_on_[static_cast<std::size_t>(here)];
    auto const ranks_on = [&](int unit) {
        auto const at = static_cast<std::size_t>(unit);
        return at < ranks_on_.size() ? ranks_on_[at] : 0;
    };
    std::vector<int> const units = scheduler_.units();
    if (units.empty()) return -1;
    int const least = *std::ranges::min_element(units, {}, ranks_on);
    return with_me >= ranks_on(least) + fewer ? least : -1;
}

void Balance::move(int unit, std::int64_t now) {
    uneven_ = 0;
    if (!scheduler_.move_to(unit)) {
        next_move_ = next_move_apart_ = INT64_MAX;
        return;
    }
    show(unit, now);
    segment_.rank_state(rank_).times.core_moves.add(1);
    pause_ = last_move_ != 0 && now - last_move_ < 8 * pause_ ? std::min(2 * pause_, most_pause) : least_pause;
    last_move_ = now;
    next_move_ = now + pause_;
    next_move_apart_ = now + pause_of_two_on_one_core;
}

}   // namespace tutti
