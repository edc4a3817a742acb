// SPDX-License-Identifier: BSD-3-Clause
// When a wait polls, yields and sleeps, for given times.
#include "runtime/wait/spin_policy.hpp"

#include <gtest/gtest.h>

namespace tutti {
namespace {

using Next = SpinPolicy::Next;

constexpr std::int64_t us = 1'000, ms = 1'000'000, begin = 1'000 * ms;
constexpr bool useful = false, useless = true;   // of yields
constexpr std::int64_t yield_takes = us;
constexpr SpinPolicy::Core quiet{}, contended{.contended = true}, among_ranks{.has_neighbours = true};

/// The decision at `now`, just after the clock was read.
Next at(SpinPolicy& policy, std::int64_t now, SpinPolicy::Core core = quiet) {
    policy.record_clock(now);
    return policy.next(now, core);
}

/// Yields `times` times from `now` on, all useless or all useful. Returns the time after the last one.
std::int64_t yield(SpinPolicy& policy, int times, bool are_useless, std::int64_t now, SpinPolicy::Core core) {
    for (int i = 0; i < times; ++i) {
        EXPECT_EQ(at(policy, now, core), Next::yield) << i;
        policy.invalidate_clock();
        now += yield_takes;
        policy.record_yield(are_useless, now);
    }
    return now;
}

TEST(SpinPolicy, OnADedicatedCorePollsLongBetweenYieldsAndSleepsAfterTheGivenTime) {
    LongPolls long_polls;
    SpinPolicy policy(WaitPolicy::dedicated, {}, 10 * ms, long_polls, begin);
    EXPECT_EQ(at(policy, begin + us), Next::poll);
    EXPECT_EQ(at(policy, begin + 24 * us), Next::poll);
    EXPECT_EQ(at(policy, begin + 25 * us), Next::yield);
    policy.record_yield(useless, begin + 26 * us);
    EXPECT_EQ(at(policy, begin + 50 * us), Next::poll);
    EXPECT_EQ(at(policy, begin + 10 * ms), Next::yield);
    EXPECT_EQ(at(policy, begin + 10 * ms + 2 * us), Next::sleep);
    policy.restart();
    EXPECT_NE(at(policy, begin + 11 * ms), Next::sleep) << "progress restarts the wait";
}

TEST(SpinPolicy, WithoutASleepTimeNeverSleeps) {
    LongPolls long_polls;
    for (WaitPolicy rule : {WaitPolicy::dedicated, WaitPolicy::shared}) {
        SpinPolicy policy(rule, {}, 0, long_polls, begin);
        EXPECT_EQ(at(policy, begin + 1000 * ms, contended), Next::yield);
    }
}

TEST(SpinPolicy, OnAContendedCoreSleepsAfterAUselessYieldOrAFewUsefulOnes) {
    LongPolls long_polls;
    long_polls.record(false);
    SpinPolicy one(WaitPolicy::dedicated, {}, 10 * ms, long_polls, begin);
    EXPECT_EQ(at(one, begin + 2 * us, contended), Next::poll);
    std::int64_t now = yield(one, 1, useless, begin + 3 * us, contended);
    EXPECT_EQ(at(one, now + 3 * us, contended), Next::sleep);
    long_polls.record(false);
    SpinPolicy other(WaitPolicy::dedicated, {}, 10 * ms, long_polls, begin);
    now = begin;
    for (int i = 0; i < 4; ++i) now = yield(other, 1, useful, now + 3 * us, contended);
    EXPECT_EQ(at(other, now + 3 * us, contended), Next::sleep);
}

/// A wait of the duration `after` on a contended core. Returns how long it only polled.
std::int64_t polls_for(LongPolls& long_polls, std::int64_t after) {
    SpinPolicy policy(WaitPolicy::dedicated, {}, 10 * ms, long_polls, begin);
    for (std::int64_t now = begin; now < begin + after; now += us)
        if (at(policy, now, contended) != Next::poll) return now - begin;
    return after;
}

TEST(SpinPolicy, OnAContendedCorePollsLongWhileThatIsUseful) {
    LongPolls long_polls;
    for (int i = 0; i < 100; ++i) EXPECT_EQ(polls_for(long_polls, 20 * us), 20 * us) << i;
    EXPECT_EQ(polls_for(long_polls, ms), 25 * us);
    EXPECT_EQ(polls_for(long_polls, ms), 3 * us) << "after a useless long poll";
    EXPECT_EQ(polls_for(long_polls, ms), 25 * us);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(polls_for(long_polls, 20 * us), 3 * us) << i;
    for (int i = 0; i < 10; ++i) EXPECT_EQ(polls_for(long_polls, 20 * us), 20 * us) << "after a useful poll: " << i;
    int long_ones = 0;
    for (int i = 0; i < 1000; ++i) long_ones += polls_for(long_polls, ms) > 3 * us;
    EXPECT_LE(long_ones, 6 + 1000 / 64);
}

TEST(SpinPolicy, OnACoreWithOtherRanksYieldsSoonerButContinues) {
    LongPolls long_polls;
    long_polls.record(false);
    SpinPolicy policy(WaitPolicy::dedicated, {}, 10 * ms, long_polls, begin);
    EXPECT_EQ(at(policy, begin + 2 * us, among_ranks), Next::poll);
    std::int64_t now = begin;
    for (int i = 0; i < 50; ++i) now = yield(policy, 1, useful, now + 3 * us, among_ranks);
    EXPECT_EQ(at(policy, now + 3 * us, among_ranks), Next::yield);
}

TEST(SpinPolicy, OversubscribedYieldsImmediatelyAndSleepsSoonWithoutNeighbours) {
    LongPolls long_polls;
    long_polls.record(false);
    SpinPolicy policy(WaitPolicy::shared, {}, 10 * ms, long_polls, begin);
    std::int64_t const now = yield(policy, 4, useless, begin, quiet);
    EXPECT_EQ(at(policy, now), Next::sleep);
}

/// A wait of the duration `after` on an oversubscribed node with useless yields. Returns when it went to sleep.
std::int64_t sleeps_after(LongPolls& long_polls, SpinPolicy::Core core, std::int64_t after) {
    SpinPolicy policy(WaitPolicy::shared, {}, 10 * ms, long_polls, begin);
    for (std::int64_t now = begin; now < begin + after; now += us) {
        Next const next = at(policy, now, core);
        if (next == Next::sleep) return now - begin;
        if (next == Next::yield) policy.record_yield(useless, now);
    }
    return after;
}

TEST(SpinPolicy, OversubscribedContinuesWithoutNeighboursWhileThatIsUseful) {
    for (SpinPolicy::Core core : {quiet, contended}) {
        LongPolls long_polls;
        for (int i = 0; i < 100; ++i) EXPECT_EQ(sleeps_after(long_polls, core, 40 * us), 40 * us) << i;
        EXPECT_NEAR(sleeps_after(long_polls, core, ms), 50 * us, 3 * us);
        EXPECT_LE(sleeps_after(long_polls, core, ms), 5 * us) << "after a useless long poll";
        EXPECT_NEAR(sleeps_after(long_polls, core, ms), 50 * us, 3 * us);
    }
}

TEST(SpinPolicy, ALongPollThatEndsByItsNumberOfYieldsIsUseless) {
    LongPolls long_polls;
    {
        SpinPolicy policy(WaitPolicy::shared, {}, 10 * ms, long_polls, begin);
        std::int64_t now = yield(policy, 4, useless, begin, quiet);
        EXPECT_EQ(at(policy, now), Next::yield) << "a long poll";
        policy.record_yield(useful, now);
        now = yield(policy, 27, useful, now, quiet);
        EXPECT_EQ(at(policy, now), Next::sleep);
    }
    EXPECT_LE(sleeps_after(long_polls, quiet, ms), 5 * us);
}

TEST(SpinPolicy, AmongOtherRanksPollsOnAnIdleCoreForAWhile) {
    LongPolls long_polls;
    SpinPolicy policy(WaitPolicy::shared, {}, 10 * ms, long_polls, begin);
    std::int64_t now = yield(policy, 1, useless, begin, among_ranks);
    EXPECT_EQ(at(policy, now + 2 * us, among_ranks), Next::poll);
    EXPECT_EQ(at(policy, now + 3 * us, among_ranks), Next::yield);
    EXPECT_EQ(at(policy, begin + 50 * us, among_ranks), Next::sleep);
    policy.restart();
    now = yield(policy, 32, useful, begin + 60 * us, among_ranks);
    EXPECT_EQ(at(policy, now, among_ranks), Next::sleep) << "after thirty-two useful yields";
}

TEST(SpinPolicy, AWaitsOverrideTakesPrecedenceOverTheRanksPolicy) {
    LongPolls long_polls;
    SpinPolicy stubborn(WaitPolicy::shared, WaitPolicy::dedicated, 10 * ms, long_polls, begin);
    EXPECT_EQ(at(stubborn, begin + 24 * us, contended), Next::poll);
    EXPECT_EQ(at(stubborn, begin + 9 * ms, contended), Next::yield);
    SpinPolicy yielding(WaitPolicy::dedicated, WaitPolicy::shared, 10 * ms, long_polls, begin);
    EXPECT_EQ(at(yielding, begin), Next::yield);
}

TEST(SpinPolicy, MeasuresHowLongTheThreadOnlyPolled) {
    LongPolls long_polls;
    SpinPolicy policy(WaitPolicy::dedicated, {}, 10 * ms, long_polls, begin);
    EXPECT_TRUE(policy.is_fresh());
    EXPECT_EQ(policy.record_clock(begin), 0) << "unknown";
    EXPECT_FALSE(policy.is_fresh());
    EXPECT_EQ(policy.record_clock(begin + 7 * us), 7 * us);
    policy.invalidate_clock();
    EXPECT_EQ(policy.record_clock(begin + 9 * us), 0);
    int polls = 0;
    while (!policy.count_poll()) ++polls;
    EXPECT_GT(polls, 1);
    policy.record_clock(begin + 10 * us);
    EXPECT_FALSE(policy.count_poll()) << "counted from the last clock reading on";
}

}   // namespace
}   // namespace tutti
