// SPDX-License-Identifier: BSD-3-Clause
// The one wait: conditions, progress, reasons, sleep and waking.
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

/// A call of a thread among several.
struct Visit {
    explicit Visit(Waiter& w) : waiter(w) { waiter.enter(); }
    ~Visit() { waiter.leave(); }
    Waiter& waiter;
};

class Wait : public ::testing::TestWithParam<WaitPolicy> {};
INSTANTIATE_TEST_SUITE_P(Policies, Wait, ::testing::Values(WaitPolicy::dedicated, WaitPolicy::shared));

TEST_P(Wait, ReturnsWhenTheFlagComes) {
    Segment s = Segment::create(2);
    RankLock lock;
    Waiter waiter(s, 0, GetParam(), 0, lock);
    Flag flag;
    int data = 0;
    std::thread writer([&] {
        data = 7;
        flag.publish(3);
    });
    waiter.until([&] { return flag.reached(3); }, {"test"});
    EXPECT_EQ(data, 7) << "what was written before the flag must be visible";
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
    waiter.until([&] { return steps.count >= 10000; }, {"test"});
    EXPECT_GE(steps.count, 10000);
    waiter.detach(&steps);
    int before = steps.count;
    waiter.progress();
    EXPECT_EQ(steps.count, before) << "detached, but polled";
}

TEST_P(Wait, SleepsAndIsWokenByAWriter) {
    Segment s = Segment::create(2);
    RankLock lock, other;
    Waiter sleeper(s, 0, GetParam(), 1, lock), writer(s, 1, GetParam(), 1, other);
    for (std::uint64_t round = 1; round <= 20; ++round) {
        Flag flag;
        std::thread thread([&] { sleeper.until([&] { return flag.reached(1); }, {"test"}); });
        while (s.header().sleeping() == 0) std::this_thread::yield();
        EXPECT_EQ(s.rank_state(0).asleep.load(), 1u);
        flag.publish(1);
        writer.wake_sleepers();
        thread.join();
        EXPECT_EQ(s.header().sleeping(), 0u);
        EXPECT_EQ(s.rank_state(0).asleep.load(), 0u);
    }
}

TEST_P(Wait, CountsWhatIsNotOverAtOnceAndItsTime) {
    Segment s = Segment::create(1);
    RankLock lock;
    Waiter waiter(s, 0, GetParam(), 5, lock);
    Times const& times = s.rank_state(0).times;
    waiter.until([] { return true; }, {"test"});
    EXPECT_EQ(times.waits.read(), 0u) << "this was no wait";
    EXPECT_EQ(times.waited.read(), 0u);
    Flag flag;
    std::thread thread([&] {
        while (s.rank_state(0).asleep == 0) std::this_thread::yield();
        std::this_thread::sleep_for(2ms);
        flag.publish(1);
        waiter.wake_sleepers();
    });
    auto const start = std::chrono::steady_clock::now();
    waiter.until([&] { return flag.reached(1); }, {"test"});
    auto const took = std::chrono::steady_clock::now() - start;
    thread.join();
    EXPECT_EQ(times.waits.read(), 1u);
    EXPECT_GT(times.waited.read(), 1'000'000u);
    EXPECT_LE(times.waited.read(), static_cast<std::uint64_t>(std::chrono::nanoseconds(took).count()));
    waiter.until([] { return true; }, {"test"});
    EXPECT_EQ(times.waits.read(), 1u);
}

/// Four threads of one rank take turns, fifty each; `take_turn` waits for `mine` and calls `done` inside the lock.
template <class TakeTurn>
void take_turns(WaitPolicy policy, TakeTurn take_turn) {
    Segment s = Segment::create(1);
    RankLock lock;
    lock.open();
    Waiter waiter(s, 0, policy, 1, lock);
    int turn = 0;   // plain: the lock protects it
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
        waiter.until(mine, {"test"});
        done();
    });
}

TEST_P(Wait, SeveralThreadsOfARankSleepAndAreAllWoken) {
    Segment s = Segment::create(2);
    RankLock lock, other;
    lock.open();
    Waiter sleeper(s, 0, GetParam(), 1, lock), writer(s, 1, GetParam(), 1, other);
    Flag flags[3];
    bool done[3] = {};
    std::atomic<int> came = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i)
        threads.emplace_back([&, i] {
            Visit visit(sleeper);
            ++came;
            sleeper.until([&] { return flags[i].reached(1); }, {"test"});
            done[i] = true;
        });
    // Who comes relieves one that sleeps already: the sum may be 0 in between.
    while (came != 3 || s.header().sleeping() == 0) std::this_thread::yield();
    for (int look = 0; look < 1000; ++look) EXPECT_LE(s.header().sleeping(), 1u) << "one of them sleeps for all";
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
    lock.open();
    Waiter waiter(s, 0, GetParam(), 1, lock);
    for (int round = 0; round < 20; ++round) {
        bool complete = false;   // plain: the lock protects it
        std::thread thread([&] {
            Visit visit(waiter);
            waiter.until([&] { return complete; }, {"test"});
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

TEST_P(Wait, OneThreadPollsForAllAndPassesItOn) {
    struct Steps : Pollable {
        int count = 0;   // plain: the lock protects it
        bool poll() override { return ++count, true; }
    } steps;
    Segment s = Segment::create(1);
    RankLock lock;
    lock.open();
    Waiter waiter(s, 0, GetParam(), 1, lock);
    waiter.attach(&steps);
    std::vector<std::thread> threads;
    for (int i = 1; i <= 6; ++i)
        threads.emplace_back([&, i] {
            for (int round = 1; round <= 20; ++round) {
                Visit visit(waiter);
                int const wanted = steps.count + 200 * i;   // they come and leave in all orders
                waiter.until([&] { return steps.count >= wanted; }, {"test"});
                EXPECT_GE(steps.count, wanted);
            }
        });
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(s.rank_state(0).asleep.load(), 0u);
    EXPECT_EQ(s.header().sleeping(), 0u);
}

/// As the rank finds it when another program takes its core away.
void lose_time_slice(RankLock& lock) { lock.contention.note_gap(Contention::lost_slice_ns, now_ns()); }

TEST_P(Wait, SleepsSoonAfterItLostATimeSlice) {
    Segment s = Segment::create(2);
    RankLock lock, other;
    Waiter sleeper(s, 0, GetParam(), 1'000'000, lock), writer(s, 1, GetParam(), 0, other);
    for (std::uint64_t round = 1; round <= 5; ++round) {
        lose_time_slice(lock);
        std::uint64_t const before = s.rank_state(0).times.sleeps.read();
        Flag flag;
        std::thread thread([&] { sleeper.until([&] { return flag.reached(1); }, {"test"}); });
        while (s.rank_state(0).times.sleeps.read() == before) std::this_thread::yield();
        flag.publish(1);
        writer.wake_sleepers();
        thread.join();
        EXPECT_EQ(s.header().sleeping(), 0u);
        EXPECT_EQ(s.rank_state(0).blocked.changes.load() % 2, 0u) << "what it waited for is still told";
    }
}

TEST_P(Wait, ThatMayNotSleepDoesNotSleepAtOnceEither) {
    Segment s = Segment::create(1);
    RankLock lock;
    Waiter waiter(s, 0, GetParam(), 0, lock);
    lose_time_slice(lock);
    int looks = 0;
    waiter.until([&] { return ++looks == 5000; }, {"test"});
    EXPECT_EQ(s.rank_state(0).times.sleeps.read(), 0u);
}

TEST_P(Wait, ThreadsThatTestAndThreadsThatWaitFindWhatComes) {
    take_turns(GetParam(), [](Waiter& waiter, RankLock& lock, int me, auto const& mine, auto const& done) {
        lose_time_slice(lock);
        for (bool found = false; !found;) {
            Visit visit(waiter);
            if (me % 2 == 0) waiter.until(mine, {"test"});
            found = waiter.test(mine);
            if (found) done();
        }
    });
}

TEST(SharedCores, AWaitAmongRanksThatShareThemSleepsAfterSomeYields) {
    Segment s = Segment::create(2);
    RankLock lock, other;
    Waiter sleeper(s, 0, WaitPolicy::shared, 1'000'000, lock), writer(s, 1, WaitPolicy::shared, 0, other);
    Times const& times = s.rank_state(0).times;
    Flag flag;
    std::thread thread([&] { sleeper.until([&] { return flag.reached(1); }, {"test"}); });
    while (times.sleeps.read() == 0) {
        std::this_thread::sleep_for(1ms);
        writer.wake_sleepers();   // a sleep counts when it is over
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
