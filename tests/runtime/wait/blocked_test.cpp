// SPDX-License-Identifier: BSD-3-Clause
// The state that a rank publishes in a long wait, and its answers to the launcher's queries.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "runtime/base/flag.hpp"
#include "runtime/wait/wait.hpp"

namespace tutti {
namespace {

using namespace std::chrono_literals;

/// A rank that waits for a flag in a separate thread until the end of the test.
class Blocked : public testing::TestWithParam<WaitPolicy> {
protected:
    void block(Reason const& why) {
        thread = std::thread([this, why] { waiter.wait_until([this] { return flag.reached(1); }, why); });
        while (published().changes.load(std::memory_order_acquire) % 2 == 0) std::this_thread::yield();
    }
    void release() {
        flag.publish(1);
        waiter.wake_sleepers();
        thread.join();
    }
    tutti::Blocked const& published() const { return segment.rank_state(0).blocked; }
    BlockedThread const& first() const { return published().thread[0]; }
    std::uint64_t query() {
        std::uint64_t const query_number = segment.header().queries.fetch_add(1) + 1;
        segment.rank_state(0).wake.fetch_add(1);
        futex_wake(segment.rank_state(0).wake, wake_all);
        return query_number;
    }
    void await_answer(std::uint64_t query_number) {
        while (published().answered_query.load(std::memory_order_acquire) != query_number) std::this_thread::yield();
    }

    Segment segment = Segment::create(1);
    RankLock lock;
    Waiter waiter{segment, 0, GetParam(), 10, lock};
    Flag flag;
    std::thread thread;
};

TEST_P(Blocked, PublishesItsCallAndThePeerThatItWaitsFor) {
    block({"MPI_Recv", 5, 77});
    EXPECT_EQ(std::string(first().call.text), "MPI_Recv(rank 5, tag 77)");
    EXPECT_EQ(first().awaiting, Awaiting::all);
    ASSERT_EQ(first().ranges, 1u);
    EXPECT_EQ(first().awaited[0], (RankRange{5, 5, 1}));
    release();
    EXPECT_EQ(published().changes.load() % 2, 0u) << "its state is still published after the wait";
}

TEST_P(Blocked, WithoutKnownPeerIsUnknown) {
    block({"MPI_Wait"});
    EXPECT_EQ(first().awaiting, Awaiting::unknown);
    release();
}

TEST_P(Blocked, AnswersEachQueryOnce) {
    block({"MPI_Recv", 5, 77});
    std::uint64_t const changes = published().changes.load(), moves = published().progress_count.load();
    for (int i = 0; i < 3; ++i) await_answer(query());
    EXPECT_EQ(published().changes.load(), changes) << "its state has not changed";
    EXPECT_EQ(published().progress_count.load(), moves) << "there was no progress";
    release();
}

TEST_P(Blocked, PublishesItsWaitWhenQueried) {
    static std::atomic<int> awaited;
    awaited = 1;
    block({"MPI_Waitall", -1, -1, [](void const*, BlockedCall& blocked) { blocked.await(awaited); }});
    std::uint64_t const changes = published().changes.load();
    awaited = 2;
    await_answer(query());
    EXPECT_EQ(published().changes.load(), changes + 2);
    EXPECT_EQ(first().awaited[0], (RankRange{2, 2, 1}));
    release();
}

TEST_P(Blocked, CountsProgressMeanwhile) {
    struct Moving : Pollable {
        std::atomic<bool> moves = false;
        bool poll() override { return moves; }
    } moving;
    waiter.attach(&moving);
    block({"MPI_Recv", 5, 77});
    std::uint64_t const before = published().progress_count.load();
    moving.moves = true;
    while (published().progress_count.load() == before) std::this_thread::yield();
    moving.moves = false;
    release();
    waiter.detach(&moving);
}

TEST_P(Blocked, IsUnknownWhereOtherThreadsMayReleaseIt) {
    lock.enable();
    thread = std::thread([this] {
        RankLock::ScopedLock guard(lock);
        waiter.wait_until([this] { return flag.reached(1); }, {"MPI_Recv", 5, 77});
    });
    while (published().changes.load(std::memory_order_acquire) % 2 == 0) std::this_thread::yield();
    EXPECT_EQ(first().awaiting, Awaiting::unknown);
    EXPECT_EQ(first().ranges, 0u);
    release();
}

/// Waits until `ready` in several threads of a rank. The calling thread sleeps in a join, from which only one of them
/// can wake it, and is therefore not a thread that may act.
class BlockedThreads : public Blocked {
protected:
    void wait_until(std::function<bool()> ready, int threads) {
        lock.enable();
        std::vector<std::thread> waiting;
        for (int i = 0; i < threads; ++i)
            waiting.emplace_back([&, i] {
                RankLock::ScopedLock guard(lock);
                waiter.wait_until(ready, {"MPI_Recv", i, i});
            });
        for (std::thread& one : waiting) one.join();
    }
    /// Are `threads` threads published, each with the peer that it waits for?
    bool all_known(std::size_t threads) const {
        bool const valid = published().changes.load(std::memory_order_acquire) % 2 != 0;
        return valid && published().threads == threads &&
               std::all_of(published().thread, published().thread + threads,
                           [](BlockedThread const& one) { return one.awaiting == Awaiting::all && one.ranges == 1; });
    }
    static bool alone() {   // a sanitizer has its own thread
        std::filesystem::directory_iterator const tasks("/proc/self/task");
        return std::distance(begin(tasks), end(tasks)) == 1;
    }
    static constexpr std::int64_t long_time = 60'000'000'000;
};

TEST_P(BlockedThreads, OneIsPublishedAloneIfTheOthersWaitForIt) {
    if (!alone()) GTEST_SKIP() << "the process has threads besides the test's";
    bool known = false;
    wait_until([&, start = now_ns()] { return (known |= all_known(1)) || now_ns() - start > long_time; }, 1);
    EXPECT_TRUE(known);
}

TEST_P(BlockedThreads, IsKnownBesideAThreadThatNeverCallsMpi) {
    if (!alone()) GTEST_SKIP() << "the process has threads besides the test's";
    std::atomic<bool> over = false;
    std::atomic<pid_t> helper = 0;
    std::thread busy([&] {
        helper = gettid();
        while (!over) std::this_thread::sleep_for(1ms);   // such a thread could call MPI
    });
    while (helper == 0) std::this_thread::yield();
    auto const known_within = [&](std::int64_t limit) {
        bool known = false;
        wait_until([&, start = now_ns()] { return (known |= all_known(1)) || now_ns() - start > limit; }, 1);
        return known;
    };
    EXPECT_FALSE(known_within(300'000'000));
    waiter.observers().exempt({helper.load()});
    EXPECT_TRUE(known_within(long_time));
    over = true;
    busy.join();
}

TEST_P(BlockedThreads, AllArePublished) {
    if (!alone()) GTEST_SKIP() << "the process has threads besides the test's";
    bool known = false;
    wait_until([&, start = now_ns()] { return (known |= all_known(3)) || now_ns() - start > long_time; }, 3);
    EXPECT_TRUE(known);
    EXPECT_EQ(published().changes.load() % 2, 0u) << "their state is still published after the waits";
}

TEST_P(BlockedThreads, MoreThanMaxThreadsAreUnknown) {
    bool full = false, known = false;
    std::int64_t const start = now_ns();
    wait_until(
        [&] {
            full |= published().changes.load() % 2 != 0 && published().threads == tutti::Blocked::max_threads;
            known |= all_known(tutti::Blocked::max_threads);
            return now_ns() - start > (full ? 300'000'000 : long_time);
        },
        tutti::Blocked::max_threads + 1);
    EXPECT_TRUE(full);
    EXPECT_FALSE(known);
}

TEST_P(BlockedThreads, AreUnknownWhileAnotherThreadMayAct) {
    std::atomic<bool> end = false;
    std::thread other([&] {
        while (!end) std::this_thread::sleep_for(1ms);
    });
    bool was_published = false, known = false;
    std::int64_t const start = now_ns();
    wait_until(
        [&] {
            was_published |= published().changes.load() % 2 != 0;
            known |= all_known(published().threads);
            return now_ns() - start > (was_published ? 300'000'000 : long_time);
        },
        2);
    EXPECT_TRUE(was_published);
    EXPECT_FALSE(known);
    end = true;
    other.join();
}

TEST_P(BlockedThreads, AnswerTogether) {
    lock.enable();
    std::vector<std::thread> waiting;
    for (int i = 0; i < 3; ++i)
        waiting.emplace_back([&, i] {
            RankLock::ScopedLock guard(lock);
            waiter.wait_until([this] { return flag.reached(1); }, {"MPI_Recv", i, i});
        });
    for (std::uint32_t threads = 0; threads < 3; std::this_thread::yield()) {
        RankLock::ScopedLock guard(lock);
        if (published().changes.load(std::memory_order_acquire) % 2 != 0) threads = published().threads;
    }
    for (int i = 0; i < 3; ++i) await_answer(query());
    flag.publish(1);
    waiter.wake_sleepers();
    for (std::thread& one : waiting) one.join();
}

TEST(BlockedCall, CombinesEquidistantRanksIntoOneRange) {
    BlockedCall of_all, of_even, of_some;
    of_all.await_any({3, 0, 1, 2});
    of_even.await_any({0, 2, 4, 6});
    of_some.await_any({1, 2, 3, 7, 9, 11, 20});
    EXPECT_EQ(of_all.awaited, (std::vector<RankRange>{{0, 3, 1}}));
    EXPECT_EQ(of_even.awaited, (std::vector<RankRange>{{0, 6, 2}}));
    EXPECT_EQ(of_some.awaited, (std::vector<RankRange>{{1, 3, 1}, {7, 11, 2}, {20, 20, 1}}));
}

INSTANTIATE_TEST_SUITE_P(, Blocked, testing::Values(WaitPolicy::dedicated, WaitPolicy::shared));
INSTANTIATE_TEST_SUITE_P(, BlockedThreads, testing::Values(WaitPolicy::dedicated, WaitPolicy::shared));

}   // namespace
}   // namespace tutti
