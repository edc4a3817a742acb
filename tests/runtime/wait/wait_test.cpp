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

TEST_P(Wait, LetsOthersInBetweenItsLooks) {
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

constexpr int some_looks = 1000, very_many_looks = 10'000'000;

constexpr auto never = [] { return false; };

TEST(Look, InVainGivesTheCoreAwayWhereItIsShared) {
    Segment s = Segment::create(2);
    RankLock lock;
    Waiter waiter(s, 0, WaitPolicy::shared, 0, lock);
    Counter const& yielded = s.rank_state(0).times.yielded_looks;
    for (int i = 0; i < 3; ++i) EXPECT_FALSE(waiter.look(never));
    EXPECT_EQ(yielded.read(), 0u) << "a few looks are no polling";
    for (int i = 0; i < very_many_looks && yielded.read() == 0; ++i) EXPECT_FALSE(waiter.look(never));
    EXPECT_EQ(yielded.read(), 1u);
    EXPECT_EQ(s.rank_state(0).times.waits.read(), 0u) << "a look is no wait";
}

TEST(Look, KeepsTheCoreWhereItIsItsOwnOrSomethingMoves) {
    struct Moving : Pollable {
        bool poll() override { return true; }
    } moving;
    Segment s = Segment::create(2);
    RankLock lock;
    Waiter dedicated(s, 0, WaitPolicy::dedicated, 1, lock), shared(s, 1, WaitPolicy::shared, 1, lock);
    shared.attach(&moving);
    for (int i = 0; i < some_looks; ++i) {
        EXPECT_FALSE(dedicated.look(never));
        EXPECT_FALSE(shared.look(never));
    }
    EXPECT_EQ(s.rank_state(0).times.yielded_looks.read(), 0u);
    EXPECT_EQ(s.rank_state(1).times.yielded_looks.read(), 0u);
}

TEST(Look, ThatHasSomethingToDoBetweenKeepsTheCore) {
    Segment s = Segment::create(1);
    RankLock lock;
    Waiter waiter(s, 0, WaitPolicy::shared, 1, lock);
    for (int i = 0; i < 20; ++i) {
        EXPECT_FALSE(waiter.look(never));
        std::this_thread::sleep_for(1ms);
    }
    EXPECT_EQ(s.rank_state(0).times.yielded_looks.read(), 0u);
}

TEST(Look, SleepsShortlyWhereYieldsCostTimeSlicesAndIsWoken) {
    Segment s = Segment::create(2);
    RankLock lock, other;
    Waiter looker(s, 0, WaitPolicy::shared, 1'000'000, lock), writer(s, 1, WaitPolicy::shared, 0, other);
    Flag flag;
    std::atomic<bool> found = false;
    std::thread thread([&] {
        while (!looker.look([&] { return flag.reached(1); })) lose_time_slice(lock);
        found = true;
    });
    while (s.rank_state(0).times.sleeps.read() == 0) std::this_thread::yield();
    flag.publish(1);
    while (!found) writer.wake_sleepers();
    thread.join();
    EXPECT_EQ(s.header().sleeping(), 0u);
    EXPECT_EQ(s.rank_state(0).times.waits.read(), 0u);
    EXPECT_EQ(s.rank_state(0).blocked.changes.load(), 0u) << "a look has no reason to give";
}

TEST_P(Wait, ThreadsThatLookAndThreadsThatWaitFindWhatComes) {
    take_turns(GetParam(), [](Waiter& waiter, RankLock& lock, int me, auto const& mine, auto const& done) {
        lose_time_slice(lock);
        for (bool found = false; !found;) {
            Visit visit(waiter);
            if (me % 2 == 0) waiter.until(mine, {"test"});
            found = waiter.look(mine);
            if (found) done();
        }
    });
}

TEST(Contention, HoldsForAWhileAndLongerWhenItRepeatsSoon) {
    constexpr std::int64_t slice = Contention::lost_slice_ns, hold = Contention::first_hold_ns;
    Contention contention;
    std::int64_t now = 1'000'000'000;
    EXPECT_FALSE(contention.shared(now));
    EXPECT_FALSE(contention.note_gap(slice - 1, now)) << "an interrupt";
    EXPECT_FALSE(contention.shared(now));
    EXPECT_TRUE(contention.note_gap(slice, now));
    EXPECT_TRUE(contention.shared(now + hold - 1));
    EXPECT_FALSE(contention.shared(now + hold));
    now += hold + Contention::soon_ns - 1;
    EXPECT_TRUE(contention.note_yield(slice, now));
    EXPECT_TRUE(contention.shared(now + 2 * hold - 1)) << "it repeats";
    EXPECT_FALSE(contention.shared(now + 2 * hold));
    now += 2 * hold + Contention::soon_ns;
    EXPECT_TRUE(contention.note_gap(slice, now));
    EXPECT_FALSE(contention.shared(now + hold)) << "it does not repeat";
    for (int i = 0; i < 20; ++i) contention.note_gap(slice, now);
    EXPECT_TRUE(contention.shared(now + Contention::longest_hold_ns - 1));
    EXPECT_FALSE(contention.shared(now + Contention::longest_hold_ns)) << "it is tried again some time";
}

TEST(Contention, AYieldMayTakeLongerWhereManyRanksShareACore) {
    Contention alone, among_many;
    among_many.configure(true, 100);
    EXPECT_TRUE(alone.note_yield(1'500'000, 1));
    EXPECT_FALSE(among_many.note_yield(1'500'000, 1)) << "a hundred have had their turns";
    EXPECT_TRUE(among_many.note_yield(3'000'000, 1)) << "one of them computes";
}

TEST(Contention, IsNotLearnedWhereTheUserSaysThatCoresAreDedicated) {
    Contention contention;
    contention.configure(false, 1);
    EXPECT_FALSE(contention.note_gap(1'000'000'000, 5));
    EXPECT_FALSE(contention.shared(6));
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
