// SPDX-License-Identifier: BSD-3-Clause
// Ranks as threads that wait for each other, and the launcher's look at them.
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
                waiter.until([this] { return flag.reached(1); }, {"MPI_Recv", peer});
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
    /// What is proven within the time.
    std::optional<ProvenDeadlock> look_for(std::chrono::milliseconds time) {
        auto const end = DeadlockWatch::Clock::now() + time;
        while (DeadlockWatch::Clock::now() < end) {
            watch.hear(node.news(DeadlockWatch::Clock::now()));
            if (auto found = watch.look(DeadlockWatch::Clock::now())) return found;
            std::this_thread::sleep_for(1ms);
        }
        return {};
    }

    Segment segment = Segment::create(3);
    std::vector<std::unique_ptr<Rank>> ranks;
    NodeWatch node{segment, [](unsigned) { return true; }};
    DeadlockWatch watch{{0, 0, 0}, [this](int, Question const& question) { node.ask(question); }};
};

TEST_F(Watched, TwoThatWaitForEachOtherAreFound) {
    ranks[0]->await(1);
    ranks[1]->await(0);
    auto const found = look_for(60s);
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
    EXPECT_FALSE(look_for(300ms));
}

TEST_F(Watched, OneThatWaitsForAnEndedRankIsFound) {
    ranks[0]->await(2);
    ranks[2]->state.state = RankPhase::finalised;
    auto const found = look_for(60s);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->ended, std::vector<int>{2});
}

TEST_F(Watched, NothingIsProvenWhileSomethingMovesOn) {
    struct Moving : Pollable {
        bool poll() override { return true; }
    } moving;
    ranks[0]->waiter.attach(&moving);
    ranks[0]->await(1);
    ranks[1]->await(0);
    EXPECT_FALSE(look_for(300ms));
    ranks[0]->release();
    ranks[0]->waiter.detach(&moving);
}

TEST_F(Watched, NothingIsProvenUntilAllHaveAnswered) {
    ranks[0]->await(1);
    // Rank 1 shows that it waits for rank 0, and does not look: it is stopped, say.
    Blocked& shown = ranks[1]->state.blocked;
    shown.threads = 1;
    shown.thread[0].awaiting = Awaiting::all;
    shown.thread[0].ranges = 1;
    shown.thread[0].awaited[0] = {0, 0, 1};
    shown.changes = 1;
    EXPECT_FALSE(look_for(300ms));
    EXPECT_EQ(segment.header().questions.load(), 1u) << "it was asked once";
    shown.answered = 1;
    EXPECT_TRUE(look_for(60s));
}

/// Two nodes with a rank each, by what they would tell.
class BetweenNodes : public testing::Test {
protected:
    struct Asked {
        int node;
        Question question;
    };

    void blocked(int rank, int by) {
        RankWait wait{RankWait::State::blocked, Awaiting::all, {{by, by, 1}}};
        watch.hear({{{rank, 1, wait}}});
    }
    void answer(Answer const& one) {
        Answer numbered = one;
        numbered.number = asked.back().question.number;
        watch.hear({{}, numbered});
    }
    bool proven() {
        later += 100ms;
        return watch.look(DeadlockWatch::Clock::now() + later).has_value();
    }
    /// Both are asked and answer what they have sent and received.
    bool proven_after(Answer const& first, Answer const& second) {
        EXPECT_FALSE(proven());
        answer(first);
        answer(second);
        return proven();
    }

    std::vector<Asked> asked;
    std::chrono::milliseconds later{0};
    DeadlockWatch watch{{0, 1}, [this](int node, Question const& question) { asked.push_back({node, question}); }};
};

constexpr Answer quiet{.unchanged = true, .moves = 3, .sent = 100, .received = 50},
    other{.unchanged = true, .moves = 5, .sent = 50, .received = 100};

TEST_F(BetweenNodes, AreAskedTwice) {
    blocked(0, 1);
    EXPECT_FALSE(proven());
    EXPECT_TRUE(asked.empty()) << "nobody has told that rank 1 is blocked";
    blocked(1, 0);
    EXPECT_FALSE(proven_after(quiet, other));
    EXPECT_EQ(asked.size(), 4u);
    answer(quiet);
    EXPECT_FALSE(proven()) << "one has not answered";
    answer(other);
    EXPECT_TRUE(proven());
}

TEST_F(BetweenNodes, WithAMessageUnderWayNothingIsProven) {
    blocked(0, 1);
    blocked(1, 0);
    Answer before = other;
    before.received = 99;
    EXPECT_FALSE(proven_after(quiet, before));
    answer(quiet);
    answer(other);   // it has come meanwhile
    EXPECT_FALSE(proven());
    EXPECT_FALSE(proven_after(quiet, other)) << "they are asked anew";
    answer(quiet);
    answer(other);
    EXPECT_TRUE(proven());
}

TEST_F(BetweenNodes, WithAMoveInBetweenNothingIsProven) {
    blocked(0, 1);
    blocked(1, 0);
    EXPECT_FALSE(proven_after(quiet, other));
    Answer moved = other;
    ++moved.moves;
    answer(quiet);
    answer(moved);
    EXPECT_FALSE(proven());
}

TEST_F(BetweenNodes, AChangeEndsTheQuestion) {
    blocked(0, 1);
    blocked(1, 0);
    EXPECT_FALSE(proven());
    answer({.unchanged = false});
    EXPECT_FALSE(proven());
    watch.hear({{{0, 0, {}}}});   // rank 0 goes on
    std::size_t const before = asked.size();
    answer(other);
    EXPECT_FALSE(proven());
    answer({.unchanged = false});
    EXPECT_FALSE(proven());
    EXPECT_FALSE(proven());
    EXPECT_LE(asked.size(), before + 2) << "a suspicion of before at the most";
}

/// Ranks 0 and 1 are in a proven deadlock; rank 2 has published nothing yet.
class Late : public testing::Test {
protected:
    using Clock = DeadlockWatch::Clock;

    Late() {
        blocked(0, 1);
        blocked(1, 0);
        EXPECT_FALSE(watch.look(now));
        answer(true);
    }
    void blocked(int rank, int by) {
        watch.hear({{{rank, 1, {RankWait::State::blocked, Awaiting::all, {{by, by, 1}}}}}});
    }
    void answer(bool unchanged) { watch.hear({{}, Answer{.number = asked.number, .unchanged = unchanged}}); }

    Question asked;
    DeadlockWatch watch{{0, 0, 0}, [this](int, Question const& question) { asked = question; }};
    Clock::time_point const now = Clock::now(), later = now + 100ms, last = later + ReportDelay::longest;
};

TEST_F(Late, RanksThatBeginToWaitBehindADeadlockAreReportedWithIt) {
    EXPECT_FALSE(watch.look(now));
    EXPECT_LE(watch.due(), now + ReportDelay::longest);
    blocked(2, 0);
    EXPECT_FALSE(watch.look(later));
    EXPECT_EQ(asked.suspects.size(), 3u);
    answer(true);
    auto const found = watch.look(later);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->ranks.cores, (std::vector<std::vector<int>>{{0, 1}}));
    EXPECT_EQ(found->ranks.behind, std::vector<int>{2});
}

TEST_F(Late, RanksThatEndDoNotDelayTheReport) {
    EXPECT_FALSE(watch.look(now));
    watch.hear({{{2, 0, {RankWait::State::ended}}}});
    EXPECT_TRUE(watch.look(later));
}

TEST_F(Late, RanksThatPublishNothingDelayTheReportOnlyForSoLong) {
    EXPECT_FALSE(watch.look(now));
    EXPECT_EQ(watch.due(), now + ReportDelay::longest);
    EXPECT_FALSE(watch.look(later));
    auto const found = watch.look(last);
    ASSERT_TRUE(found);
    EXPECT_TRUE(found->ranks.behind.empty());
    EXPECT_FALSE(watch.look(last)) << "a deadlock is reported once";
}

TEST_F(Late, RanksThatRefuteASuspicionLeaveTheDeadlockProven) {
    EXPECT_FALSE(watch.look(now));
    blocked(2, 0);
    EXPECT_FALSE(watch.look(later));
    answer(false);
    auto const found = watch.look(last);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->blocked.size(), 2u);
}

TEST_F(Late, RanksThatDoNotAnswerDelayTheReportOnlyForSoLong) {
    EXPECT_FALSE(watch.look(now));
    blocked(2, 0);
    EXPECT_FALSE(watch.look(later));
    EXPECT_TRUE(watch.look(last));
}

/// Where cores are scarce, ranks show waits that are over.
TEST(DeadlockWatch, AsksLessOftenTheMoreQuestionsHaveProvedNothing) {
    std::vector<std::uint64_t> asked;
    DeadlockWatch watch({0, 0}, [&](int, Question const& question) { asked.push_back(question.number); });
    RankWait wait{.state = RankWait::State::blocked, .awaiting = Awaiting::all, .awaited = {{1, 1, 1}}};
    NodeNews news{.ranks = {{.rank = 0, .changes = 1, .wait = wait}}};
    wait.awaited = {{0, 0, 1}};
    news.ranks.push_back({.rank = 1, .changes = 1, .wait = wait});
    watch.hear(news);
    auto now = DeadlockWatch::Clock::now();
    std::size_t answered = 0;
    for (auto const end = now + 10s; now < end; now += 5ms) {
        EXPECT_FALSE(watch.look(now));
        if (asked.size() > answered) watch.hear({.ranks = {}, .answer = Answer{.number = asked[answered++]}});
    }
    EXPECT_GE(asked.size(), 10u);
    EXPECT_LE(asked.size(), 16u);
}

}   // namespace
}   // namespace tutti::launcher
