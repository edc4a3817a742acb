// SPDX-License-Identifier: BSD-3-Clause
// The central wait: conditions, progress, reasons, sleeping and waking.
#include "runtime/wait/wait.hpp"

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace tutti {
namespace {

using namespace std::chrono_literals;

/// Makes a call of a thread in a multithreaded rank.
struct Visit {
    explicit Visit(Waiter& w) : waiter(w) { waiter.enter(); }
    ~Visit() { waiter.leave(); }
    Waiter& waiter;
};

class Wait : public ::testing::TestWithParam<WaitPolicy> {};
INSTANTIATE_TEST_SUITE_P(Policies, Wait, ::testing::Values(WaitPolicy::dedicated, WaitPolicy::shared));

TEST_P(Wait, ReturnsWhenTheFlagIsSet) {
    Segment s = Segment::create(2);
    RankLock lock;
    Waiter waiter(s, 0, GetParam(), 0, lock);
    Flag flag;
    int data = 0;
    std::thread writer([&] {
        data = 7;
        flag.publish(3);
    });
    waiter.wait_until([&] { return flag.reached(3); }, {"test"});
    EXPECT_EQ(data, 7) << "stores before the flag must be visible";
    writer.join();
}

TEST_P(Wait, DrivesProgressWhileItWaits) {
    struct Steps : Pollable {
        int count = 0;
        bool poll() override { return ++count < 100; }
    } steps;
    Segment s = Segment::create(1);
    RankLock lock;
    Waiter waiter(s, 0, GetParam(), 0, lock);
    waiter.attach(&steps);
    waiter.wait_until([&] { return steps.count >= 10000; }, {"test"});
    EXPECT_GE(steps.count, 10000);
    waiter.detach(&steps);
    int before = steps.count;
    waiter.progress();
    EXPECT_EQ(steps.count, before) << "polled after it was detached";
}

TEST_P(Wait, SleepsAndIsWokenByAWriter) {
    Segment s = Segment::create(2);
    RankLock lock, other;
    Waiter sleeper(s, 0, GetParam(), 1, lock), writer(s, 1, GetParam(), 1, other);
    for (std::uint64_t round = 1; round <= 20; ++round) {
        Flag flag;
        std::thread thread([&] { sleeper.wait_until([&] { return flag.reached(1); }, {"test"}); });
        while (s.header().sleeping() == 0) std::this_thread::yield();
        EXPECT_EQ(s.rank_state(0).asleep.load(), 1u);
        flag.publish(1);
        writer.wake_sleepers();
        thread.join();
        EXPECT_EQ(s.header().sleeping(), 0u);
        EXPECT_EQ(s.rank_state(0).asleep.load(), 0u);
    }
}

TEST_P(Wait, CountsWaitsThatDoNotEndImmediatelyAndTheirTime) {
    Segment s = Segment::create(1);
    RankLock lock;
    Waiter waiter(s, 0, GetParam(), 5, lock);
    Times const& times = s.rank_state(0).times;
    waiter.wait_until([] { return true; }, {"test"});
    EXPECT_EQ(times.waits.read(), 0u) << "this does not count as a wait";
    EXPECT_EQ(times.waited.read(), 0u);
    Flag flag;
    std::thread thread([&] {
        while (s.rank_state(0).asleep == 0) std::this_thread::yield();
        std::this_thread::sleep_for(2ms);
        flag.publish(1);
        waiter.wake_sleepers();
    });
    auto const start = std::chrono::steady_clock::now();
    waiter.wait_until([&] { return flag.reached(1); }, {"test"});
    auto const took = std::chrono::steady_clock::now() - start;
    thread.join();
    EXPECT_EQ(times.waits.read(), 1u);
    EXPECT_GT(times.waited.read(), 1'000'000u);
    EXPECT_LE(times.waited.read(), static_cast<std::uint64_t>(std::chrono::nanoseconds(took).count()));
    waiter.wait_until([] { return true; }, {"test"});
    EXPECT_EQ(times.waits.read(), 1u);
}

/// Four threads of one rank take fifty turns each; `take_turn` waits for `mine` and calls `done` with the lock held.
template <class TakeTurn>
void take_turns(WaitPolicy policy, TakeTurn take_turn) {
    Segment s = Segment::create(1);
    RankLock lock;
    lock.enable();
    Waiter waiter(s, 0, policy, 1, lock);
    int turn = 0;   // not atomic: protected by the lock
    std::vector<std::thread> threads;
    for (int me = 0; me < 4; ++me)
        threads.emplace_back([&, me] {
            auto const mine = [&] { return turn % 4 == me; };
            auto const done = [&] {
                ++turn;
                waiter.wake_sleepers();
            };
            for (int round = 0; round < 50; ++round) take_turn(waiter, lock, me, mine, done);
        });
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(turn, 200);
    EXPECT_EQ(s.rank_state(0).asleep.load(), 0u);
    EXPECT_EQ(s.header().sleeping(), 0u);
}

TEST_P(Wait, LetsOthersInBetweenItsPolls) {
    take_turns(GetParam(), [](Waiter& waiter, RankLock&, int, auto const& mine, auto const& done) {
        Visit visit(waiter), again(waiter);
        waiter.wait_until(mine, {"test"});
        done();
    });
}

TEST_P(Wait, SeveralThreadsOfARankSleepAndAreAllWoken) {
    Segment s = Segment::create(2);
    RankLock lock, other;
    lock.enable();
    Waiter sleeper(s, 0, GetParam(), 1, lock), writer(s, 1, GetParam(), 1, other);
    Flag flags[3];
    bool done[3] = {};
    std::atomic<int> arrived = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i)
        threads.emplace_back([&, i] {
            Visit visit(sleeper);
            ++arrived;
            sleeper.wait_until([&] { return flags[i].reached(1); }, {"test"});
            done[i] = true;
        });
    // A thread that arrives replaces the sleeping one: the sum may be 0 in between.
    while (arrived != 3 || s.header().sleeping() == 0) std::this_thread::yield();
    for (int i = 0; i < 1000; ++i) EXPECT_LE(s.header().sleeping(), 1u) << "one thread sleeps for all";
    for (int i = 0; i < 3; ++i) {
        flags[i].publish(1);
        writer.wake_sleepers();
        threads[static_cast<std::size_t>(i)].join();
        EXPECT_TRUE(done[i]);
    }
    EXPECT_EQ(s.header().sleeping(), 0u);
}

TEST_P(Wait, AThreadWakesAnotherOfItsRank) {
    Segment s = Segment::create(1);
    RankLock lock;
    lock.enable();
    Waiter waiter(s, 0, GetParam(), 1, lock);
    for (int round = 0; round < 20; ++round) {
        bool complete = false;   // not atomic: protected by the lock
        std::thread thread([&] {
            Visit visit(waiter);
            waiter.wait_until([&] { return complete; }, {"test"});
        });
        while (s.rank_state(0).asleep.load() == 0) std::this_thread::yield();
        {
            Visit visit(waiter);
            complete = true;
            waiter.wake_sleepers();
        }
        thread.join();
    }
    EXPECT_EQ(s.header().sleeping(), 0u);
}

TEST_P(Wait, OneThreadPollsForAllAndHandsOver) {
    struct Steps : Pollable {
        int count = 0;   // not atomic: protected by the lock
        bool poll() override { return ++count, true; }
    } steps;
    Segment s = Segment::create(1);
    RankLock lock;
    lock.enable();
    Waiter waiter(s, 0, GetParam(), 1, lock);
    waiter.attach(&steps);
    std::vector<std::thread> threads;
    for (int i = 1; i <= 6; ++i)
        threads.emplace_back([&, i] {
            for (int round = 1; round <= 20; ++round) {
                Visit visit(waiter);
                int const wanted = steps.count + 200 * i;   // threads arrive and leave in all orders
                waiter.wait_until([&] { return steps.count >= wanted; }, {"test"});
                EXPECT_GE(steps.count, wanted);
            }
        });
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(s.rank_state(0).asleep.load(), 0u);
    EXPECT_EQ(s.header().sleeping(), 0u);
}

/// Simulates that another program takes the rank's core.
void lose_time_slice(RankLock& lock) { lock.contention.record_gap(Contention::lost_slice_ns, now_ns()); }

TEST_P(Wait, SleepsSoonAfterItLostATimeSlice) {
    Segment s = Segment::create(2);
    RankLock lock, other;
    Waiter sleeper(s, 0, GetParam(), 1'000'000, lock), writer(s, 1, GetParam(), 0, other);
    for (std::uint64_t round = 1; round <= 5; ++round) {
        lose_time_slice(lock);
        std::uint64_t const before = s.rank_state(0).times.sleeps.read();
        Flag flag;
        std::thread thread([&] { sleeper.wait_until([&] { return flag.reached(1); }, {"test"}); });
        while (s.rank_state(0).times.sleeps.read() == before) std::this_thread::yield();
        flag.publish(1);
        writer.wake_sleepers();
        thread.join();
        EXPECT_EQ(s.header().sleeping(), 0u);
        EXPECT_EQ(s.rank_state(0).blocked.changes.load() % 2, 0u) << "its wait is still published";
    }
}

TEST_P(Wait, ThatMayNotSleepDoesNotSleepAfterALostSliceEither) {
    Segment s = Segment::create(1);
    RankLock lock;
    Waiter waiter(s, 0, GetParam(), 0, lock);
    lose_time_slice(lock);
    int polls = 0;
    waiter.wait_until([&] { return ++polls == 5000; }, {"test"});
    EXPECT_EQ(s.rank_state(0).times.sleeps.read(), 0u);
}

TEST_P(Wait, ThreadsThatTestAndThreadsThatWaitSeeCompletions) {
    take_turns(GetParam(), [](Waiter& waiter, RankLock& lock, int me, auto const& mine, auto const& done) {
        lose_time_slice(lock);
        for (bool found = false; !found;) {
            Visit visit(waiter);
            if (me % 2 == 0) waiter.wait_until(mine, {"test"});
            found = waiter.test(mine);
            if (found) done();
        }
    });
}

TEST(SharedCores, AWaitSleepsAfterSomeYields) {
    Segment s = Segment::create(2);
    RankLock lock, other;
    Waiter sleeper(s, 0, WaitPolicy::shared, 1'000'000, lock), writer(s, 1, WaitPolicy::shared, 0, other);
    Times const& times = s.rank_state(0).times;
    Flag flag;
    std::thread thread([&] { sleeper.wait_until([&] { return flag.reached(1); }, {"test"}); });
    while (times.sleeps.read() == 0) {
        std::this_thread::sleep_for(1ms);
        writer.wake_sleepers();   // a sleep is counted at its end
    }
    EXPECT_GE(times.yields.read(), 1u);
    EXPECT_LE(times.yields.read(), 32u);
    flag.publish(1);
    writer.wake_sleepers();
    thread.join();
    EXPECT_GE(s.rank_state(1).times.wakes.read(), 1u);
}

}   // namespace
}   // namespace tutti
