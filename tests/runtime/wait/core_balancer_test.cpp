// SPDX-License-Identifier: BSD-3-Clause
// Ranks that share cores spread over them, on pretended cores and a pretended clock.
#include "runtime/wait/core_balancer.hpp"

#include <deque>
#include <optional>

#include <gtest/gtest.h>

#include "topo/this_machine.hpp"

namespace tutti {
namespace {

struct PretendedScheduler : Scheduler {
    int unit_here() const override { return unit; }
    std::vector<int> units() const override { return allowed; }
    bool move_to(int to) const override {
        if (forbidden) return false;
        unit = to;
        return true;
    }
    mutable int unit = 0;
    std::vector<int> allowed{0, 1};
    bool forbidden = false;
};

struct Crowd {
    explicit Crowd(std::vector<int> const& units_of_ranks, std::uint32_t cores = 2)
        : segment(Segment::create(static_cast<unsigned>(units_of_ranks.size()))) {
        segment.header().usable_cores = cores;
        for (unsigned rank = 0; rank < units_of_ranks.size(); ++rank) {
            schedulers.emplace_back().unit = units_of_ranks[rank];
            ranks.emplace_back(segment, rank, schedulers.back());
        }
    }
    /// All look, one after the other.
    void look_all(std::int64_t milliseconds) {
        for (auto const end = now + milliseconds * 1'000'000; now < end; now += 100'000)
            for (Balance& rank : ranks) rank.look(now += 1000);
    }
    int on(int unit) const {
        return static_cast<int>(std::ranges::count(schedulers, unit, [](auto const& s) { return s.unit; }));
    }
    std::uint64_t moves() const {
        std::uint64_t sum = 0;
        for (unsigned rank = 0; rank < segment.ranks(); ++rank) sum += segment.rank_state(rank).times.core_moves.read();
        return sum;
    }

    Segment segment;
    std::deque<PretendedScheduler> schedulers;
    std::deque<Balance> ranks;
    std::int64_t now = 1'000'000'000;
};

TEST(Balance, RanksThatStartOnOneCoreAreSoonOnBoth) {
    Crowd crowd({0, 0, 0, 0, 0, 0, 0, 0});
    crowd.look_all(5);
    EXPECT_EQ(crowd.on(0), 4);
    EXPECT_EQ(crowd.on(1), 4);
    EXPECT_EQ(crowd.moves(), 4u) << "none moves that need not";
}

TEST(Balance, ADifferenceOfOneIsEven) {
    Crowd crowd({0, 1, 0, 1, 0});
    crowd.look_all(50);
    EXPECT_EQ(crowd.moves(), 0u);
}

TEST(Balance, RanksGoOnlyWhereTheyMayRun) {
    Crowd bound({0, 0, 0, 0});
    for (auto& scheduler : bound.schedulers) scheduler.allowed = {0};
    bound.look_all(50);
    EXPECT_EQ(bound.moves(), 0u);
    Crowd elsewhere({5, 5, 5, 5}, 3);
    for (auto& scheduler : elsewhere.schedulers) scheduler.allowed = {5, 7, 40};
    elsewhere.look_all(50);
    EXPECT_EQ(elsewhere.on(5), 2);
    EXPECT_EQ(elsewhere.on(7) + elsewhere.on(40), 2);
}

TEST(Balance, WhoSleepsDoesNotCount) {
    Crowd crowd({0, 0, 0, 1, 1});
    crowd.look_all(1);
    for (unsigned rank : {3u, 4u}) crowd.segment.watched(rank).store(1);
    for (int turn = 0; turn < 50; ++turn, crowd.now += 100'000)
        for (std::size_t rank : {0, 1, 2}) crowd.ranks[rank].look(crowd.now += 1000);
    EXPECT_EQ(crowd.moves(), 1u);
    EXPECT_EQ(crowd.on(0), 2) << "the other core is idle";
}

TEST(Balance, NothingIsDecidedWhileSomebodyComputes) {
    Crowd crowd({0, 0, 0, 1});
    crowd.ranks[3].look(crowd.now);
    crowd.now += 100'000'000;
    for (int turn = 0; turn < 50; ++turn, crowd.now += 1'000'000)
        for (std::size_t rank : {0, 1, 2}) crowd.ranks[rank].look(crowd.now += 1000);
    EXPECT_EQ(crowd.moves(), 0u);
    crowd.look_all(5);
    EXPECT_EQ(crowd.moves(), 1u);
}

TEST(Balance, WhoIsMovedBackAgainAndAgainGivesWay) {
    Crowd crowd({0, 0, 0, 0});
    for (int second = 0; second < 10; ++second)
        for (int turn = 0; turn < 100; ++turn) {
            for (auto& scheduler : crowd.schedulers) scheduler.unit = 0;   // as a kernel may that knows of others
            crowd.look_all(10);
        }
    EXPECT_LT(crowd.moves(), 4 * 12u);
}

TEST(Balance, WhereEachRankCanHaveACoreOneThatSleepsCountsWhereItRan) {
    Crowd crowd({0, 0});
    for (unsigned rank : {0u, 1u}) crowd.segment.watched(rank).store(1);   // they sleep in turn
    crowd.look_all(5);
    EXPECT_EQ(crowd.on(0), 1);
    EXPECT_EQ(crowd.moves(), 1u);
    auto const shared = [&] { return crowd.segment.rank_state(0).times.shared_core.read(); };
    std::uint64_t const before = shared();
    EXPECT_GE(before, 100'000u);
    EXPECT_LE(before, 2'000'000u);
    crowd.look_all(50);
    EXPECT_EQ(crowd.moves(), 1u);
    EXPECT_EQ(shared(), before);
}

TEST(Balance, WhereEachRankCanHaveACoreOneMovesApartEveryFewMilliseconds) {
    Crowd crowd({0, 0});
    for (int turn = 0; turn < 1000; ++turn) {
        for (auto& scheduler : crowd.schedulers) scheduler.unit = 0;   // as beside a steady thread
        crowd.look_all(1);
    }
    EXPECT_GE(crowd.moves(), 1000u / 6);
    EXPECT_LE(crowd.moves(), 2 * 1000u / 5 + 2);
}

TEST(Balance, WhereEachRankCanHaveACoreOneNotSeenForLongIsLeftAlone) {
    Crowd crowd({0, 0});
    crowd.ranks[1].look(crowd.now);
    crowd.now += 100'000'000;   // it may run elsewhere by now
    for (int turn = 0; turn < 50; ++turn) crowd.ranks[0].look(crowd.now += 200'000);
    EXPECT_EQ(crowd.moves(), 0u);
}

TEST(Balance, ARankWhoseCoreIsTakenAwayMovesWhereNoRankRuns) {
    Crowd crowd({0, 1}, 3);
    for (auto& scheduler : crowd.schedulers) scheduler.allowed = {0, 1, 2};
    for (int turn = 0; turn < 50; ++turn, crowd.now += 200'000) {
        crowd.ranks[0].look(crowd.now, true);
        crowd.ranks[1].look(crowd.now, false);
    }
    EXPECT_EQ(crowd.on(0), 0);
    EXPECT_EQ(crowd.schedulers[0].unit, 2);
    EXPECT_EQ(crowd.moves(), 1u);
    Crowd full({0, 1});
    for (int turn = 0; turn < 50; ++turn)
        for (Balance& rank : full.ranks) rank.look(full.now += 200'000, true);
    EXPECT_EQ(full.moves(), 0u);
    EXPECT_EQ(full.on(0), 1) << "every core has a rank";
}

TEST(Balance, WhatTheSystemForbidsIsNotTriedAgain) {
    Crowd crowd({0, 0, 0, 0});
    for (auto& scheduler : crowd.schedulers) scheduler.forbidden = true;
    crowd.look_all(50);
    for (auto& scheduler : crowd.schedulers) scheduler.forbidden = false;
    crowd.look_all(500);
    EXPECT_EQ(crowd.moves(), 0u);
}

TEST(Balance, TheKernelMovesAThreadAndLeavesItsAffinityAlone) {
    Scheduler const& kernel = kernel_scheduler();
    std::vector<int> const units = kernel.units();
    for (int unit : units) {
        ASSERT_TRUE(kernel.move_to(unit));
        EXPECT_EQ(kernel.units(), units);
    }
    EXPECT_FALSE(kernel.move_to(8000)) << "there is no such unit";
    EXPECT_EQ(kernel.units(), units);
}

}   // namespace
}   // namespace tutti
