// SPDX-License-Identifier: BSD-3-Clause
// The launcher's deadlock detector, with ranks as threads of this process that wait for each other.
#include "launcher/diagnosis/deadlock_detector.hpp"

#include <memory>
#include <thread>

#include <gtest/gtest.h>

#include "runtime/wait/wait.hpp"

namespace tutti::launcher {
namespace {

using namespace std::chrono_literals;

class Watched : public testing::Test {
protected:
    struct Rank {
        Rank(Segment const& segment, unsigned place)
            : waiter(segment, place, WaitPolicy::shared, 10, lock), state(segment.rank_state(place)) {}
        void await(int peer) {
            thread = std::thread([this, peer] {
                waiter.wait_until([this] { return flag.reached(1); }, {"MPI_Recv", peer});
            });
        }
        void release() {
            flag.publish(1);
            waiter.wake_sleepers();
            if (thread.joinable()) thread.join();
        }
        RankLock lock;
        Waiter waiter;
        RankState& state;
        Flag flag;
        std::thread thread;
    };

    Watched() {
        for (unsigned place = 0; place < 3; ++place) {
            segment.rank_state(place).world_rank = static_cast<int>(place);
            segment.rank_state(place).state = RankPhase::initialised;
            ranks.push_back(std::make_unique<Rank>(segment, place));
        }
    }
    ~Watched() override {
        for (auto& rank : ranks) rank->release();
    }
    /// Returns the deadlock that is proven within the time.
    std::optional<ProvenDeadlock> check_for(std::chrono::milliseconds time) {
        auto const end = DeadlockDetector::Clock::now() + time;
        while (DeadlockDetector::Clock::now() < end) {
            detector.add(node.collect_update(DeadlockDetector::Clock::now()));
            if (auto found = detector.check(DeadlockDetector::Clock::now())) return found;
            std::this_thread::sleep_for(1ms);
        }
        return {};
    }

    Segment segment = Segment::create(3);
    std::vector<std::unique_ptr<Rank>> ranks;
    NodeMonitor node{segment, [](unsigned) { return true; }};
    DeadlockDetector detector{{0, 0, 0}, [this](int, WaitQuery const& query) { node.start_query(query); }};
};

TEST_F(Watched, TwoThatWaitForEachOtherAreFound) {
    ranks[0]->await(1);
    ranks[1]->await(0);
    auto const found = check_for(60s);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->ranks.cores, (std::vector<std::vector<int>>{{0, 1}}));
    ASSERT_EQ(found->blocked.size(), 2u);
    ASSERT_EQ(found->blocked[0].wait.awaited.size(), 1u);
    EXPECT_EQ(found->blocked[0].wait.awaited[0].first, 1);
    EXPECT_TRUE(found->ended.empty());
}

TEST_F(Watched, OnesThatWaitForARunningRankAreNot) {
    ranks[0]->await(1);
    ranks[1]->await(2);
    EXPECT_FALSE(check_for(300ms));
}

TEST_F(Watched, OneThatWaitsForAnEndedRankIsFound) {
    ranks[0]->await(2);
    ranks[2]->state.state = RankPhase::finalised;
    auto const found = check_for(60s);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->ended, std::vector<int>{2});
}

TEST_F(Watched, NothingIsProvenWhileARankMakesProgress) {
    struct Moving : Pollable {
        bool poll() override { return true; }
    } moving;
    ranks[0]->waiter.attach(&moving);
    ranks[0]->await(1);
    ranks[1]->await(0);
    EXPECT_FALSE(check_for(300ms));
    ranks[0]->release();
    ranks[0]->waiter.detach(&moving);
}

TEST_F(Watched, NothingIsProvenUntilAllHaveAnswered) {
    ranks[0]->await(1);
    // Rank 1 has published that it waits for rank 0, but does not answer queries, as if it were stopped.
    Blocked& published = ranks[1]->state.blocked;
    published.threads = 1;
    published.thread[0].awaiting = Awaiting::all;
    published.thread[0].ranges = 1;
    published.thread[0].awaited[0] = {0, 0, 1};
    published.changes = 1;
    EXPECT_FALSE(check_for(300ms));
    EXPECT_EQ(segment.header().queries.load(), 1u) << "rank 1 is queried once";
    published.answered_query = 1;
    EXPECT_TRUE(check_for(60s));
}

/// Two nodes with one rank each, simulated by their updates and replies.
class BetweenNodes : public testing::Test {
protected:
    struct Asked {
        int node;
        WaitQuery query;
    };

    void blocked(int rank, int by) {
        RankWait wait{RankWait::State::blocked, Awaiting::all, {{by, by, 1}}};
        detector.add({{{rank, 1, wait}}});
    }
    void reply(WaitReply const& one) {
        WaitReply numbered = one;
        numbered.number = asked.back().query.number;
        detector.add({{}, numbered});
    }
    bool proven() {
        later += 100ms;
        return detector.check(DeadlockDetector::Clock::now() + later).has_value();
    }
    /// Both nodes are queried and reply with the bytes that they have sent and received.
    bool proven_after(WaitReply const& first, WaitReply const& second) {
        EXPECT_FALSE(proven());
        reply(first);
        reply(second);
        return proven();
    }

    std::vector<Asked> asked;
    std::chrono::milliseconds later{0};
    DeadlockDetector detector{{0, 1}, [this](int node, WaitQuery const& query) { asked.push_back({node, query}); }};
};

constexpr WaitReply quiet{.unchanged = true, .progress_count = 3, .sent = 100, .received = 50},
    other{.unchanged = true, .progress_count = 5, .sent = 50, .received = 100};

TEST_F(BetweenNodes, AreAskedTwice) {
    blocked(0, 1);
    EXPECT_FALSE(proven());
    EXPECT_TRUE(asked.empty()) << "rank 1 is not reported as blocked";
    blocked(1, 0);
    EXPECT_FALSE(proven_after(quiet, other));
    EXPECT_EQ(asked.size(), 4u);
    reply(quiet);
    EXPECT_FALSE(proven()) << "one node has not answered";
    reply(other);
    EXPECT_TRUE(proven());
}

TEST_F(BetweenNodes, WithAMessageInFlightNothingIsProven) {
    blocked(0, 1);
    blocked(1, 0);
    WaitReply before = other;
    before.received = 99;
    EXPECT_FALSE(proven_after(quiet, before));
    reply(quiet);
    reply(other);   // the message has arrived meanwhile
    EXPECT_FALSE(proven());
    EXPECT_FALSE(proven_after(quiet, other)) << "a new query is sent";
    reply(quiet);
    reply(other);
    EXPECT_TRUE(proven());
}

TEST_F(BetweenNodes, WithProgressInBetweenNothingIsProven) {
    blocked(0, 1);
    blocked(1, 0);
    EXPECT_FALSE(proven_after(quiet, other));
    WaitReply moved = other;
    ++moved.progress_count;
    reply(quiet);
    reply(moved);
    EXPECT_FALSE(proven());
}

TEST_F(BetweenNodes, AChangeEndsTheQuestion) {
    blocked(0, 1);
    blocked(1, 0);
    EXPECT_FALSE(proven());
    reply({.unchanged = false});
    EXPECT_FALSE(proven());
    detector.add({{{0, 0, {}}}});   // rank 0 continues
    std::size_t const before = asked.size();
    reply(other);
    EXPECT_FALSE(proven());
    reply({.unchanged = false});
    EXPECT_FALSE(proven());
    EXPECT_FALSE(proven());
    EXPECT_LE(asked.size(), before + 2) << "at most an earlier suspicion";
}

/// Ranks 0 and 1 are in a proven deadlock; rank 2 has published nothing yet.
class Late : public testing::Test {
protected:
    using Clock = DeadlockDetector::Clock;

    Late() {
        blocked(0, 1);
        blocked(1, 0);
        EXPECT_FALSE(detector.check(now));
        reply(true);
    }
    void blocked(int rank, int by) {
        detector.add({{{rank, 1, {RankWait::State::blocked, Awaiting::all, {{by, by, 1}}}}}});
    }
    void reply(bool unchanged) { detector.add({{}, WaitReply{.number = asked.number, .unchanged = unchanged}}); }

    WaitQuery asked;
    DeadlockDetector detector{{0, 0, 0}, [this](int, WaitQuery const& query) { asked = query; }};
    Clock::time_point const now = Clock::now(), later = now + 100ms, last = later + ReportDelay::max_delay;
};

TEST_F(Late, RanksThatBeginToWaitForADeadlockAreReportedWithIt) {
    EXPECT_FALSE(detector.check(now));
    EXPECT_LE(detector.due(), now + ReportDelay::max_delay);
    blocked(2, 0);
    EXPECT_FALSE(detector.check(later));
    EXPECT_EQ(asked.suspects.size(), 3u);
    reply(true);
    auto const found = detector.check(later);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->ranks.cores, (std::vector<std::vector<int>>{{0, 1}}));
    EXPECT_EQ(found->ranks.dependents, std::vector<int>{2});
}

TEST_F(Late, RanksThatEndDoNotDelayTheReport) {
    EXPECT_FALSE(detector.check(now));
    detector.add({{{2, 0, {RankWait::State::ended}}}});
    EXPECT_TRUE(detector.check(later));
}

TEST_F(Late, RanksThatPublishNothingDelayTheReportOnlyForSoLong) {
    EXPECT_FALSE(detector.check(now));
    EXPECT_EQ(detector.due(), now + ReportDelay::max_delay);
    EXPECT_FALSE(detector.check(later));
    auto const found = detector.check(last);
    ASSERT_TRUE(found);
    EXPECT_TRUE(found->ranks.dependents.empty());
    EXPECT_FALSE(detector.check(last)) << "a deadlock is reported once";
}

TEST_F(Late, RanksThatRefuteASuspicionLeaveTheDeadlockProven) {
    EXPECT_FALSE(detector.check(now));
    blocked(2, 0);
    EXPECT_FALSE(detector.check(later));
    reply(false);
    auto const found = detector.check(last);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->blocked.size(), 2u);
}

TEST_F(Late, RanksThatDoNotAnswerDelayTheReportOnlyForSoLong) {
    EXPECT_FALSE(detector.check(now));
    blocked(2, 0);
    EXPECT_FALSE(detector.check(later));
    EXPECT_TRUE(detector.check(last));
}

/// On oversubscribed nodes, ranks may publish waits that have ended.
TEST(DeadlockDetector, AsksLessOftenTheMoreQuestionsHaveProvedNothing) {
    std::vector<std::uint64_t> asked;
    DeadlockDetector detector({0, 0}, [&](int, WaitQuery const& query) { asked.push_back(query.number); });
    RankWait wait{.state = RankWait::State::blocked, .awaiting = Awaiting::all, .awaited = {{1, 1, 1}}};
    NodeUpdate update{.ranks = {{.rank = 0, .changes = 1, .wait = wait}}};
    wait.awaited = {{0, 0, 1}};
    update.ranks.push_back({.rank = 1, .changes = 1, .wait = wait});
    detector.add(update);
    auto now = DeadlockDetector::Clock::now();
    std::size_t answered = 0;
    for (auto const end = now + 10s; now < end; now += 5ms) {
        EXPECT_FALSE(detector.check(now));
        if (asked.size() > answered) detector.add({.ranks = {}, .reply = WaitReply{.number = asked[answered++]}});
    }
    EXPECT_GE(asked.size(), 10u);
    EXPECT_LE(asked.size(), 16u);
}

}   // namespace
}   // namespace tutti::launcher
