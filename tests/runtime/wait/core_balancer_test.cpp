// SPDX-License-Identifier: BSD-3-Clause
// Ranks that share cores distribute themselves over them, on simulated cores with a simulated clock.
#include "runtime/wait/core_balancer.hpp"

#include <deque>
#include <optional>

#include <gtest/gtest.h>

#include "topo/this_machine.hpp"

namespace tutti {
namespace {

struct SimulatedScheduler : Scheduler {
    int current_unit() const override { return unit; }
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

struct SimulatedNode {
    explicit SimulatedNode(std::vector<int> const& units_of_ranks, std::uint32_t cores = 2)
        : segment(Segment::create(static_cast<unsigned>(units_of_ranks.size()))) {
        segment.header().usable_cores = cores;
        for (unsigned rank = 0; rank < units_of_ranks.size(); ++rank) {
            schedulers.emplace_back().unit = units_of_ranks[rank];
            ranks.emplace_back(segment, rank, schedulers.back());
        }
    }
    /// Updates all ranks in turn.
    void update_all(std::int64_t milliseconds) {
        for (auto const end = now + milliseconds * 1'000'000; now < end; now += 100'000)
            for (CoreBalancer& rank : ranks) rank.update(now += 1000);
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
    std::deque<SimulatedScheduler> schedulers;
    std::deque<CoreBalancer> ranks;
    std::int64_t now = 1'000'000'000;
};

TEST(CoreBalancer, RanksThatStartOnOneCoreSpreadOverBoth) {
    SimulatedNode node({0, 0, 0, 0, 0, 0, 0, 0});
    node.update_all(5);
    EXPECT_EQ(node.on(0), 4);
    EXPECT_EQ(node.on(1), 4);
    EXPECT_EQ(node.moves(), 4u) << "no rank moves without need";
}

TEST(CoreBalancer, ADifferenceOfOneIsBalanced) {
    SimulatedNode node({0, 1, 0, 1, 0});
    node.update_all(50);
    EXPECT_EQ(node.moves(), 0u);
}

TEST(CoreBalancer, RanksMoveOnlyToPermittedCores) {
    SimulatedNode bound({0, 0, 0, 0});
    for (auto& scheduler : bound.schedulers) scheduler.allowed = {0};
    bound.update_all(50);
    EXPECT_EQ(bound.moves(), 0u);
    SimulatedNode elsewhere({5, 5, 5, 5}, 3);
    for (auto& scheduler : elsewhere.schedulers) scheduler.allowed = {5, 7, 40};
    elsewhere.update_all(50);
    EXPECT_EQ(elsewhere.on(5), 2);
    EXPECT_EQ(elsewhere.on(7) + elsewhere.on(40), 2);
}

TEST(CoreBalancer, IgnoresSleepingRanks) {
    SimulatedNode node({0, 0, 0, 1, 1});
    node.update_all(1);
    for (unsigned rank : {3u, 4u}) node.segment.wait_target(rank).store(1);
    for (int turn = 0; turn < 50; ++turn, node.now += 100'000)
        for (std::size_t rank : {0, 1, 2}) node.ranks[rank].update(node.now += 1000);
    EXPECT_EQ(node.moves(), 1u);
    EXPECT_EQ(node.on(0), 2) << "the other core is idle";
}

TEST(CoreBalancer, MovesNoRankWhileAnotherComputes) {
    SimulatedNode node({0, 0, 0, 1});
    node.ranks[3].update(node.now);
    node.now += 100'000'000;
    for (int turn = 0; turn < 50; ++turn, node.now += 1'000'000)
        for (std::size_t rank : {0, 1, 2}) node.ranks[rank].update(node.now += 1000);
    EXPECT_EQ(node.moves(), 0u);
    node.update_all(5);
    EXPECT_EQ(node.moves(), 1u);
}

TEST(CoreBalancer, StopsMovingARankThatIsMovedBackRepeatedly) {
    SimulatedNode node({0, 0, 0, 0});
    for (int second = 0; second < 10; ++second)
        for (int turn = 0; turn < 100; ++turn) {
            for (auto& scheduler : node.schedulers) scheduler.unit = 0;   // as the kernel may do
            node.update_all(10);
        }
    EXPECT_LT(node.moves(), 4 * 12u);
}

TEST(CoreBalancer, WithACorePerRankASleepingRankCountsOnItsLastCore) {
    SimulatedNode node({0, 0});
    for (unsigned rank : {0u, 1u}) node.segment.wait_target(rank).store(1);   // they sleep in turn
    node.update_all(5);
    EXPECT_EQ(node.on(0), 1);
    EXPECT_EQ(node.moves(), 1u);
    auto const shared = [&] { return node.segment.rank_state(0).times.shared_core.read(); };
    std::uint64_t const before = shared();
    EXPECT_GE(before, 100'000u);
    EXPECT_LE(before, 2'000'000u);
    node.update_all(50);
    EXPECT_EQ(node.moves(), 1u);
    EXPECT_EQ(shared(), before);
}

TEST(CoreBalancer, WithACorePerRankSharingRanksSeparateEveryFewMilliseconds) {
    SimulatedNode node({0, 0});
    for (int turn = 0; turn < 1000; ++turn) {
        for (auto& scheduler : node.schedulers) scheduler.unit = 0;   // as a permanently running thread may cause
        node.update_all(1);
    }
    EXPECT_GE(node.moves(), 1000u / 6);
    EXPECT_LE(node.moves(), 2 * 1000u / 5 + 2);
}

TEST(CoreBalancer, WithACorePerRankALongUnseenRankIsIgnored) {
    SimulatedNode node({0, 0});
    node.ranks[1].update(node.now);
    node.now += 100'000'000;   // the rank may run elsewhere by now
    for (int turn = 0; turn < 50; ++turn) node.ranks[0].update(node.now += 200'000);
    EXPECT_EQ(node.moves(), 0u);
}

TEST(CoreBalancer, ARankThatLosesItsCoreMovesToAnIdleCore) {
    SimulatedNode node({0, 1}, 3);
    for (auto& scheduler : node.schedulers) scheduler.allowed = {0, 1, 2};
    for (int turn = 0; turn < 50; ++turn, node.now += 200'000) {
        node.ranks[0].update(node.now, true);
        node.ranks[1].update(node.now, false);
    }
    EXPECT_EQ(node.on(0), 0);
    EXPECT_EQ(node.schedulers[0].unit, 2);
    EXPECT_EQ(node.moves(), 1u);
    SimulatedNode full({0, 1});
    for (int turn = 0; turn < 50; ++turn)
        for (CoreBalancer& rank : full.ranks) rank.update(full.now += 200'000, true);
    EXPECT_EQ(full.moves(), 0u);
    EXPECT_EQ(full.on(0), 1) << "every core has a rank";
}

TEST(CoreBalancer, ForbiddenMovesAreNotRetried) {
    SimulatedNode node({0, 0, 0, 0});
    for (auto& scheduler : node.schedulers) scheduler.forbidden = true;
    node.update_all(50);
    for (auto& scheduler : node.schedulers) scheduler.forbidden = false;
    node.update_all(500);
    EXPECT_EQ(node.moves(), 0u);
}

TEST(CoreBalancer, TheKernelMovesAThreadAndLeavesItsAffinityAlone) {
    Scheduler const& kernel = kernel_scheduler();
    std::vector<int> const units = kernel.units();
    for (int unit : units) {
        ASSERT_TRUE(kernel.move_to(unit));
        EXPECT_EQ(kernel.units(), units);
    }
    EXPECT_FALSE(kernel.move_to(8000)) << "this unit does not exist";
    EXPECT_EQ(kernel.units(), units);
}

}   // namespace
}   // namespace tutti
