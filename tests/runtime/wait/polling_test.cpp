// SPDX-License-Identifier: BSD-3-Clause
// Calls that check once, such as MPI_Test, repeated without progress.
#include <atomic>
#include <chrono>
#include <thread>

#include <gtest/gtest.h>
#include <sched.h>

#include "runtime/wait/wait.hpp"

namespace tutti {
namespace {

using namespace std::chrono_literals;

/// Simulates a lost time slice.
void lose_core(RankLock& lock) { lock.contention.record_gap(Contention::lost_slice_ns, now_ns()); }

constexpr int some_tests = 1000, very_many_tests = 10'000'000;

constexpr auto never = [] { return false; };

cpu_set_t affinity() {
    cpu_set_t units;
    CPU_ZERO(&units);
    sched_getaffinity(0, sizeof units, &units);
    return units;
}
/// Binds this thread, and threads that it starts, to its current core.
bool stay_on_core() {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    return sched_setaffinity(0, sizeof one, &one) == 0;
}

TEST(Test, WithoutProgressYieldsASharedCore) {
    Segment s = Segment::create(2);
    RankLock lock;
    Waiter waiter(s, 0, WaitPolicy::shared, 0, lock);
    Counter const& yielded = s.rank_state(0).times.yielded_tests;
    for (int i = 0; i < 3; ++i) EXPECT_FALSE(waiter.test(never));
    EXPECT_EQ(yielded.read(), 0u) << "a few tests do not count as polling";
    for (int i = 0; i < very_many_tests && yielded.read() == 0; ++i) EXPECT_FALSE(waiter.test(never));
    EXPECT_EQ(yielded.read(), 1u);
    EXPECT_EQ(s.rank_state(0).times.waits.read(), 0u) << "a test does not count as a wait";
}

TEST(Test, KeepsADedicatedCoreOrAfterProgress) {
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
    EXPECT_EQ(s.rank_state(0).times.yielded_tests.read(), 0u);
    EXPECT_EQ(s.rank_state(1).times.yielded_tests.read(), 0u);
}

TEST(Test, ThatIsFollowedByOtherWorkKeepsTheCore) {
    Segment s = Segment::create(1);
    RankLock lock;
    Waiter waiter(s, 0, WaitPolicy::shared, 1, lock);
    for (int i = 0; i < 20; ++i) {
        EXPECT_FALSE(waiter.test(never));
        std::this_thread::sleep_for(1ms);
    }
    EXPECT_EQ(s.rank_state(0).times.yielded_tests.read(), 0u);
}

/// A rank repeats a test and calls `between` after each, until the test sleeps; the store of another rank ends that.
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
    EXPECT_EQ(s.rank_state(0).blocked.changes.load(), 0u) << "a test publishes no wait";
}

TEST(Test, SleepsInAProgramThatSleepsBetweenTestsAndIsWoken) {
    expect_sleep_and_wake(WaitPolicy::dedicated, 1, [](RankLock&) { std::this_thread::sleep_for(100us); });
}

TEST(Test, SleepsBrieflyWhereYieldsCostTimeSlicesAndIsWoken) {
    expect_sleep_and_wake(WaitPolicy::shared, 1'000'000, lose_core);
}

/// Runs unsuccessful tests on one core beside a thread that is always ready to run; the rank calls `between` after each
/// series. Returns whether the rank detects that it loses its core.
template <class Between>
bool detects_another_thread(std::chrono::nanoseconds within, Between&& between) {
    cpu_set_t const before = affinity();
    EXPECT_TRUE(stay_on_core());
    std::atomic<bool> over = false;
    std::thread other([&] {
        while (!over) sched_yield();
    });
    Segment s = Segment::create(1);
    RankLock lock;
    RepeatedTests tests(lock, s.rank_state(0), WaitPolicy::shared, 0, false);
    std::int64_t const end = now_ns() + within.count();
    bool detected = false;   // evidence expires: joining the other thread may take longer than it holds
    while (now_ns() < end && !detected) {
        for (int i = 0; i < some_tests; ++i) tests.record_empty_test({});
        between(s.rank_state(0));
        detected = lock.contention.is_shared(now_ns());
    }
    over = true;
    other.join();
    sched_setaffinity(0, sizeof before, &before);
    return detected;
}

TEST(Test, LearnsLostSlicesFromTheKernelButNotFromItsOwnYields) {
    cpu_set_t const before = affinity();
    if (!stay_on_core()) GTEST_SKIP() << "the system does not permit to set the affinity";
    sched_setaffinity(0, sizeof before, &before);
    EXPECT_TRUE(detects_another_thread(10s, [](RankState&) {}));
    EXPECT_FALSE(detects_another_thread(50ms, [](RankState& rank_state) {
        sched_yield();
        rank_state.times.yields.add(1);
    }));
}

TEST(Test, IsDescribedOnceWhenTheRankIsRecordedAsPolling) {
    Segment s = Segment::create(1);
    RankLock lock;
    Waiter waiter(s, 0, WaitPolicy::dedicated, 0, lock);
    int described = 0;
    struct : Observer {
        void on_long_wait(std::int64_t ns) override { polled = ns; }
        std::int64_t polled = 0;
    } observer;
    waiter.repeated_tests().observer = &observer;
    auto const call = [&] { return ++described, std::string("MPI_Test(receive of 1 MPI_INT from rank 1)"); };
    BusyPoll const& published = s.rank_state(0).busy_poll;
    std::int64_t const end = now_ns() + 20'000'000'000;
    while (now_ns() < end && published.changes.load() % 2 == 0) waiter.test(never, CallText(call));
    EXPECT_EQ(observer.polled, 0);
    EXPECT_STREQ(published.call.text, "MPI_Test(receive of 1 MPI_INT from rank 1)");
    for (int i = 0; i < very_many_tests; ++i) waiter.test(never, CallText(call));
    EXPECT_EQ(described, 1);
    EXPECT_GT(observer.polled, 1'000'000'000);
}

TEST(Test, ReturnsImmediatelyIfSleepsAreNotPermitted) {
    Segment s = Segment::create(1);
    RankLock lock;
    Waiter waiter(s, 0, WaitPolicy::dedicated, 1, lock, false);
    for (int i = 0; i < 500; ++i) {
        EXPECT_FALSE(waiter.test(never));
        std::this_thread::sleep_for(100us);
    }
    EXPECT_EQ(s.rank_state(0).times.sleeps.read(), 0u);
}

}   // namespace
}   // namespace tutti
