// SPDX-License-Identifier: BSD-3-Clause
// Detection of a node without progress on which ranks poll.
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
        segment_.rank_state(1).busy_poll.changes = 1;
    }

    /// Checks once a second while the second rank polls.
    StallState check_for(int seconds) {
        StallState sum;
        for (int i = 0; i < seconds; ++i) {
            now_ += 1s;
            now_ns_ += second_ns;
            if (polls_) segment_.rank_state(1).busy_poll.last = now_ns_;
            StallState const change = stall_detector_.check(now_, now_ns_);
            sum.nodes += change.nodes;
            sum.polling += change.polling;
        }
        return sum;
    }

    Segment const segment_ = Segment::create(2);
    bool alive_ = true, polls_ = true;
    StallDetector stall_detector_{segment_, [this](unsigned place) { return place == 0 || alive_; }, 30s};
    StallDetector::Clock::time_point now_ = StallDetector::Clock::now();
    std::int64_t now_ns_ = 100 * second_ns;
};

TEST_F(StillnessTest, IsReportedOnceAfterTheLimit) {
    EXPECT_EQ(check_for(30), StallState{});
    EXPECT_EQ(check_for(3), (StallState{1, 1}));
    EXPECT_EQ(check_for(100), StallState{}) << "reported already";
}

TEST_F(StillnessTest, HasTheLimitThatIsSet) {
    auto const all_act = [](unsigned) { return true; };
    StallDetector short_limit(segment_, all_act, 2s), long_limit(segment_, all_act, 60s);
    for (int second = 0; second <= 60; ++second) {
        segment_.rank_state(1).busy_poll.last = now_ns_;
        EXPECT_EQ(short_limit.check(now_, now_ns_), (second == 2 ? StallState{1, 1} : StallState{})) << second;
        EXPECT_EQ(long_limit.check(now_, now_ns_), (second == 60 ? StallState{1, 1} : StallState{})) << second;
        now_ += 1s;
        now_ns_ += second_ns;
    }
}

TEST_F(StillnessTest, EndsWithProgress) {
    EXPECT_EQ(check_for(33), (StallState{1, 1}));
    segment_.rank_state(0).blocked.changes = 2;
    EXPECT_EQ(check_for(1), (StallState{-1, -1}));
}

TEST_F(StillnessTest, IsNoneWhileProgressIsMadeAtIntervals) {
    for (int i = 0; i < 10; ++i) {
        segment_.rank_state(0).blocked.progress_count = static_cast<std::uint64_t>(i);
        EXPECT_EQ(check_for(20), StallState{});
    }
}

TEST_F(StillnessTest, IsNoneWhileARankComputes) {
    polls_ = false;
    EXPECT_EQ(check_for(100), StallState{}) << "the rank has polled, but polls no more";
    segment_.rank_state(0).state = RankPhase::finalised;
    EXPECT_EQ(check_for(100), StallState{});
}

TEST_F(StillnessTest, DoesNotWaitForRanksThatHaveEnded) {
    alive_ = false;
    EXPECT_EQ(check_for(33), (StallState{1, 0})) << "no rank polls any more";
}

}   // namespace
}   // namespace tutti::launcher
