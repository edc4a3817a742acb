// SPDX-License-Identifier: BSD-3-Clause
// What a rank that waits for long shows, and how it answers the launcher's question.
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "runtime/base/futex.hpp"
#include "runtime/wait/wait.hpp"

namespace tutti {
namespace {

using namespace std::chrono_literals;

/// A rank that waits for a flag in a thread of its own, until the end of the test.
class Blocked : public testing::TestWithParam<WaitPolicy> {
protected:
    void block(Reason const& why) {
        thread = std::thread([this, why] { waiter.until([this] { return flag.reached(1); }, why); });
        while (shown().changes.load(std::memory_order_acquire) % 2 == 0) std::this_thread::yield();
    }
    void release() {
        flag.publish(1);
        waiter.wake_sleepers();
        thread.join();
    }
    tutti::Blocked const& shown() const { return segment.rank_state(0).blocked; }
    std::uint64_t ask() {
        std::uint64_t const question = segment.header().questions.fetch_add(1) + 1;
        segment.rank_state(0).wake.fetch_add(1);
        futex_wake(segment.rank_state(0).wake, everybody);
        return question;
    }
    void await_answer(std::uint64_t question) {
        while (shown().answered.load(std::memory_order_acquire) != question) std::this_thread::yield();
    }

    Segment segment = Segment::create(1);
    RankLock lock;
    Waiter waiter{segment, 0, GetParam(), 10, lock};
    Flag flag;
    std::thread thread;
};

TEST_P(Blocked, ShowsItsCallAndWhoseActWouldReleaseIt) {
    block({"MPI_Recv", 5, 77});
    EXPECT_EQ(std::string(shown().call), "MPI_Recv(rank 5, tag 77)");
    EXPECT_EQ(shown().awaiting, Awaiting::all);
    ASSERT_EQ(shown().ranges, 1u);
    EXPECT_EQ(shown().awaited[0], (RankRange{5, 5, 1}));
    release();
    EXPECT_EQ(shown().changes.load() % 2, 0u) << "what it waited for outlived the wait";
}

TEST_P(Blocked, OfNobodyKnownIsUnknown) {
    block({"MPI_Wait"});
    EXPECT_EQ(shown().awaiting, Awaiting::unknown);
    release();
}

TEST_P(Blocked, AnswersEachQuestionOnce) {
    block({"MPI_Recv", 5, 77});
    std::uint64_t const changes = shown().changes.load(), moves = shown().moves.load();
    for (int i = 0; i < 3; ++i) await_answer(ask());
    EXPECT_EQ(shown().changes.load(), changes) << "nothing has changed";
    EXPECT_EQ(shown().moves.load(), moves) << "nothing has moved";
    release();
}

TEST_P(Blocked, ShowsWhatItWaitsForWhenItIsAsked) {
    static std::atomic<int> awaited;
    awaited = 1;
    block({"MPI_Waitall", -1, -1, [](void const*, Blockage& blockage) { blockage.await(awaited); }});
    std::uint64_t const changes = shown().changes.load();
    awaited = 2;
    await_answer(ask());
    EXPECT_EQ(shown().changes.load(), changes + 2);
    EXPECT_EQ(shown().awaited[0], (RankRange{2, 2, 1}));
    release();
}

TEST_P(Blocked, CountsWhatMovesOnMeanwhile) {
    struct Moving : Pollable {
        std::atomic<bool> moves = false;
        bool poll() override { return moves; }
    } moving;
    waiter.attach(&moving);
    block({"MPI_Recv", 5, 77});
    std::uint64_t const before = shown().moves.load();
    moving.moves = true;
    while (shown().moves.load() == before) std::this_thread::yield();
    moving.moves = false;
    release();
    waiter.detach(&moving);
}

TEST_P(Blocked, IsUnknownWhereOtherThreadsMayReleaseIt) {
    lock.open();
    thread = std::thread([this] {
        RankLock::Inside inside(lock);
        waiter.until([this] { return flag.reached(1); }, {"MPI_Recv", 5, 77});
    });
    while (shown().changes.load(std::memory_order_acquire) % 2 == 0) std::this_thread::yield();
    EXPECT_EQ(shown().awaiting, Awaiting::unknown);
    EXPECT_EQ(shown().ranges, 0u);
    release();
}

TEST(Blockage, PutsRanksWithTheSameDistanceIntoOneRange) {
    Blockage of_all, of_even, of_some;
    of_all.await_any({3, 0, 1, 2});
    of_even.await_any({0, 2, 4, 6});
    of_some.await_any({1, 2, 3, 7, 9, 11, 20});
    EXPECT_EQ(of_all.awaited, (std::vector<RankRange>{{0, 3, 1}}));
    EXPECT_EQ(of_even.awaited, (std::vector<RankRange>{{0, 6, 2}}));
    EXPECT_EQ(of_some.awaited, (std::vector<RankRange>{{1, 3, 1}, {7, 11, 2}, {20, 20, 1}}));
}

INSTANTIATE_TEST_SUITE_P(, Blocked, testing::Values(WaitPolicy::dedicated, WaitPolicy::shared));

}   // namespace
}   // namespace tutti
