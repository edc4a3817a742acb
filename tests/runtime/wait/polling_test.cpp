// SPDX-License-Identifier: BSD-3-Clause
// Calls that check once, such as MPI_Test, repeated without success; and what a rank learns of its core.
#include <atomic>
#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "runtime/wait/wait.hpp"

namespace tutti {
namespace {

using namespace std::chrono_literals;

/// What a thread learns from a lost time slice.
void lose_core(RankLock& lock) { lock.contention.note_gap(Contention::lost_slice_ns, now_ns()); }

constexpr int some_tests = 1000, very_many_tests = 10'000'000;

constexpr auto never = [] { return false; };

TEST(Test, WithoutProgressGivesTheCoreAwayWhereItIsShared) {
    Segment s = Segment::create(2);
    RankLock lock;
    Waiter waiter(s, 0, WaitPolicy::shared, 0, lock);
    Counter const& yielded = s.rank_state(0).times.yielded_looks;
    for (int i = 0; i < 3; ++i) EXPECT_FALSE(waiter.test(never));
    EXPECT_EQ(yielded.read(), 0u) << "a few tests are no polling";
    for (int i = 0; i < very_many_tests && yielded.read() == 0; ++i) EXPECT_FALSE(waiter.test(never));
    EXPECT_EQ(yielded.read(), 1u);
    EXPECT_EQ(s.rank_state(0).times.waits.read(), 0u) << "a test is no wait";
}

TEST(Test, KeepsTheCoreWhereItIsItsOwnOrSomethingMoves) {
    struct Moving : Pollable {
        bool poll() override { return true; }
    } moving;
    Segment s = Segment::create(2);
    RankLock lock;
    Waiter dedicated(s, 0, WaitPolicy::dedicated, 1, lock), shared(s, 1, WaitPolicy::shared, 1, lock);
    shared.attach(&moving);
    for (int i = 0; i < some_tests; ++i) {
        EXPECT_FALSE(dedicated.test(never));
        EXPECT_FALSE(shared.test(never));
    }
    EXPECT_EQ(s.rank_state(0).times.yielded_looks.read(), 0u);
    EXPECT_EQ(s.rank_state(1).times.yielded_looks.read(), 0u);
}

TEST(Test, ThatIsFollowedByOtherWorkKeepsTheCore) {
    Segment s = Segment::create(1);
    RankLock lock;
    Waiter waiter(s, 0, WaitPolicy::shared, 1, lock);
    for (int i = 0; i < 20; ++i) {
        EXPECT_FALSE(waiter.test(never));
        std::this_thread::sleep_for(1ms);
    }
    EXPECT_EQ(s.rank_state(0).times.yielded_looks.read(), 0u);
}

/// A rank repeats a test, and calls `between` after each, until it sleeps in one; another rank's store ends that.
template <class Between>
void expect_sleep_and_wake(WaitPolicy policy, long sleep_after_ms, Between between) {
    Segment s = Segment::create(2);
    RankLock lock, other;
    Waiter tester(s, 0, policy, sleep_after_ms, lock), writer(s, 1, policy, 0, other);
    Flag flag;
    std::atomic<bool> found = false;
    std::thread thread([&] {
        while (!tester.test([&] { return flag.reached(1); })) between(lock);
        found = true;
    });
    while (s.rank_state(0).times.sleeps.read() == 0) std::this_thread::yield();
    flag.publish(1);
    while (!found) writer.wake_sleepers();
    thread.join();
    EXPECT_EQ(s.header().sleeping(), 0u);
    EXPECT_EQ(s.rank_state(0).times.waits.read(), 0u);
    EXPECT_EQ(s.rank_state(0).blocked.changes.load(), 0u) << "a test has no reason to give";
}

TEST(Test, OfAProgramThatSleepsBetweenSleepsItselfAndIsWoken) {
    expect_sleep_and_wake(WaitPolicy::dedicated, 1, [](RankLock&) { std::this_thread::sleep_for(100us); });
}

TEST(Test, SleepsShortlyWhereYieldsCostTimeSlicesAndIsWoken) {
    expect_sleep_and_wake(WaitPolicy::shared, 1'000'000, lose_core);
}

TEST(Test, OfAProgramThatSleepsBetweenReturnsAtOnceWhereItLearnsNothing) {
    Segment s = Segment::create(1);
    RankLock lock;
    Waiter waiter(s, 0, WaitPolicy::dedicated, 1, lock, false);
    for (int i = 0; i < 500; ++i) {
        EXPECT_FALSE(waiter.test(never));
        std::this_thread::sleep_for(100us);
    }
    EXPECT_EQ(s.rank_state(0).times.sleeps.read(), 0u);
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
    EXPECT_FALSE(among_many.note_yield(3'000'000, 1)) << "a hundred have had their turns";
    EXPECT_TRUE(among_many.note_yield(15'000'000, 1)) << "one of them computes";
}

TEST(Contention, KnowsFromUsefulYieldsThatThereAreOtherThreadsInItsGroup) {
    constexpr std::int64_t useless = Contention::useless_yield_ns - 1, useful = Contention::useless_yield_ns;
    Contention contention;
    EXPECT_FALSE(contention.has_neighbours());
    contention.note_yield(useless, 1);
    EXPECT_FALSE(contention.has_neighbours());
    auto const yields = [&](int useful_ones, int useless_ones) {
        for (int i = 0; i < 50; ++i)
            for (int k = 0; k < useful_ones + useless_ones; ++k)
                contention.note_yield(k < useful_ones ? useful : useless, 1);
        return contention.has_neighbours();
    };
    EXPECT_TRUE(yields(1, 0));
    EXPECT_TRUE(yields(2, 3)) << "they sleep now and then";
    EXPECT_FALSE(yields(1, 4)) << "threads of other groups have come in between";
    contention.note_yield(Contention::lost_slice_ns, 1);
    EXPECT_FALSE(contention.has_neighbours()) << "that was another group's turn";
}

TEST(Contention, IsNotLearnedWhereTheUserSaysThatCoresAreDedicated) {
    Contention contention;
    contention.configure(false, 1);
    EXPECT_FALSE(contention.note_gap(1'000'000'000, 5));
    EXPECT_FALSE(contention.shared(6));
}

}   // namespace
}   // namespace tutti
