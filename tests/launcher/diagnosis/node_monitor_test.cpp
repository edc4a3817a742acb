// SPDX-License-Identifier: BSD-3-Clause
// When nothing has moved on a node for long, though ranks poll.
#include "launcher/diagnosis/node_monitor.hpp"

#include <gtest/gtest.h>

namespace tutti::launcher {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t second_ns = 1'000'000'000;

/// Two ranks in MPI; the first one is blocked, the second one polls.
class StillnessTest : public ::testing::Test {
protected:
    StillnessTest() {
        for (unsigned place : {0u, 1u}) segment_.rank_state(place).state = RankPhase::initialised;
        segment_.rank_state(0).blocked.changes = 1;
        segment_.rank_state(1).polling.changes = 1;
    }

    /// Looks once a second, during which the second rank goes on polling.
    Still look(int seconds) {
        Still sum;
        for (int i = 0; i < seconds; ++i) {
            now_ += 1s;
            now_ns_ += second_ns;
            if (polls_) segment_.rank_state(1).polling.last = now_ns_;
            Still const change = stillness_.change(now_, now_ns_);
            sum.nodes += change.nodes;
            sum.polling += change.polling;
        }
        return sum;
    }

    Segment const segment_ = Segment::create(2);
    bool alive_ = true, polls_ = true;
    Stillness stillness_{segment_, [this](unsigned place) { return place == 0 || alive_; }, 30s};
    Stillness::Clock::time_point now_ = Stillness::Clock::now();
    std::int64_t now_ns_ = 100 * second_ns;
};

TEST_F(StillnessTest, IsReportedOnceAfterTheLimit) {
    EXPECT_EQ(look(30), Still{});
    EXPECT_EQ(look(3), (Still{1, 1}));
    EXPECT_EQ(look(100), Still{}) << "reported already";
}

TEST_F(StillnessTest, HasTheLimitThatIsSet) {
    auto const all_act = [](unsigned) { return true; };
    Stillness short_limit(segment_, all_act, 2s), long_limit(segment_, all_act, 60s);
    for (int second = 0; second <= 60; ++second) {
        segment_.rank_state(1).polling.last = now_ns_;
        EXPECT_EQ(short_limit.change(now_, now_ns_), (second == 2 ? Still{1, 1} : Still{})) << second;
        EXPECT_EQ(long_limit.change(now_, now_ns_), (second == 60 ? Still{1, 1} : Still{})) << second;
        now_ += 1s;
        now_ns_ += second_ns;
    }
}

TEST_F(StillnessTest, EndsWhenSomethingMoves) {
    EXPECT_EQ(look(33), (Still{1, 1}));
    segment_.rank_state(0).blocked.changes = 2;
    EXPECT_EQ(look(1), (Still{-1, -1}));
}

TEST_F(StillnessTest, IsNoneWhileSomethingMovesNowAndThen) {
    for (int i = 0; i < 10; ++i) {
        segment_.rank_state(0).blocked.moves = static_cast<std::uint64_t>(i);
        EXPECT_EQ(look(20), Still{});
    }
}

TEST_F(StillnessTest, IsNoneWhileARankComputes) {
    polls_ = false;
    EXPECT_EQ(look(100), Still{}) << "it polled, and does no more";
    segment_.rank_state(0).state = RankPhase::finalised;
    EXPECT_EQ(look(100), Still{});
}

TEST_F(StillnessTest, DoesNotWaitForRanksThatHaveEnded) {
    alive_ = false;
    EXPECT_EQ(look(33), (Still{1, 0})) << "nobody polls any more";
}

}   // namespace
}   // namespace tutti::launcher
