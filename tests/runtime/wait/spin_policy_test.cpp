// SPDX-License-Identifier: BSD-3-Clause
// When a wait polls, yields and sleeps, by the times that it is given.
#include "runtime/wait/spin_policy.hpp"

#include <gtest/gtest.h>

namespace tutti {
namespace {

using Next = SpinPolicy::Next;

constexpr std::int64_t us = 1'000, ms = 1'000'000, begin = 1'000 * ms;
constexpr bool useful = false, useless = true;   // yields
constexpr std::int64_t yield_takes = us;
constexpr SpinPolicy::Core quiet{}, contended{.contended = true}, among_ranks{.has_neighbours = true};

/// The answer at `now`, after the clock was read.
Next at(SpinPolicy& policy, std::int64_t now, SpinPolicy::Core core = quiet) {
    policy.note_clock(now);
    return policy.next(now, core);
}

/// Yields `times` times, all useless or useful, from `now` on; returns the time after them.
std::int64_t yield(SpinPolicy& policy, int times, bool are_useless, std::int64_t now, SpinPolicy::Core core) {
    for (int i = 0; i < times; ++i) {
        EXPECT_EQ(at(policy, now, core), Next::yield) << i;
        policy.interrupt();
        now += yield_takes;
        policy.note_yield(are_useless, now);
    }
    return now;
}

TEST(SpinPolicy, OnACoreOfItsOwnPollsForLongBetweenYieldsAndSleepsAfterTheGivenTime) {
    LongPolls long_polls;
    SpinPolicy policy(WaitPolicy::dedicated, {}, 10 * ms, long_polls, begin);
    EXPECT_EQ(at(policy, begin + us), Next::poll);
    EXPECT_EQ(at(policy, begin + 24 * us), Next::poll);
    EXPECT_EQ(at(policy, begin + 25 * us), Next::yield);
    policy.note_yield(useless, begin + 26 * us);
    EXPECT_EQ(at(policy, begin + 50 * us), Next::poll);
    EXPECT_EQ(at(policy, begin + 10 * ms), Next::yield);
    EXPECT_EQ(at(policy, begin + 10 * ms + 2 * us), Next::sleep);
    policy.restart();
    EXPECT_NE(at(policy, begin + 11 * ms), Next::sleep) << "something arrived";
}

TEST(SpinPolicy, WithoutATimeToSleepNeverSleeps) {
    LongPolls long_polls;
    for (WaitPolicy rule : {WaitPolicy::dedicated, WaitPolicy::shared}) {
        SpinPolicy policy(rule, {}, 0, long_polls, begin);
        EXPECT_EQ(at(policy, begin + 1000 * ms, contended), Next::yield);
    }
}

TEST(SpinPolicy, OnAContendedCoreSleepsAfterAUselessYieldOrAFewUsefulOnes) {
    LongPolls long_polls;
    long_polls.note(false);
    SpinPolicy one(WaitPolicy::dedicated, {}, 10 * ms, long_polls, begin);
    EXPECT_EQ(at(one, begin + 2 * us, contended), Next::poll);
    std::int64_t now = yield(one, 1, useless, begin + 3 * us, contended);
    EXPECT_EQ(at(one, now + 3 * us, contended), Next::sleep);
    long_polls.note(false);
    SpinPolicy other(WaitPolicy::dedicated, {}, 10 * ms, long_polls, begin);
    now = begin;
    for (int i = 0; i < 4; ++i) now = yield(other, 1, useful, now + 3 * us, contended);
    EXPECT_EQ(at(other, now + 3 * us, contended), Next::sleep);
}

/// A wait on a contended core, until `after` has passed; returns for how long it polled before it did anything else.
std::int64_t polls_for(LongPolls& long_polls, std::int64_t after) {
    SpinPolicy policy(WaitPolicy::dedicated, {}, 10 * ms, long_polls, begin);
    for (std::int64_t now = begin; now < begin + after; now += us)
        if (at(policy, now, contended) != Next::poll) return now - begin;
    return after;
}

TEST(SpinPolicy, OnAContendedCorePollsForLongWhileThatPays) {
    LongPolls long_polls;
    for (int i = 0; i < 100; ++i) EXPECT_EQ(polls_for(long_polls, 20 * us), 20 * us) << i;
    EXPECT_EQ(polls_for(long_polls, ms), 25 * us);
    EXPECT_EQ(polls_for(long_polls, ms), 3 * us) << "after one that brought nothing";
    EXPECT_EQ(polls_for(long_polls, ms), 25 * us);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(polls_for(long_polls, 20 * us), 3 * us) << i;
    for (int i = 0; i < 10; ++i) EXPECT_EQ(polls_for(long_polls, 20 * us), 20 * us) << "one that paid: " << i;
    int long_ones = 0;
    for (int i = 0; i < 1000; ++i) long_ones += polls_for(long_polls, ms) > 3 * us;
    EXPECT_LE(long_ones, 6 + 1000 / 64);
}

TEST(SpinPolicy, OnACoreWithOtherRanksYieldsSoonerButGoesOn) {
    LongPolls long_polls;
    long_polls.note(false);
    SpinPolicy policy(WaitPolicy::dedicated, {}, 10 * ms, long_polls, begin);
    EXPECT_EQ(at(policy, begin + 2 * us, among_ranks), Next::poll);
    std::int64_t now = begin;
    for (int i = 0; i < 50; ++i) now = yield(policy, 1, useful, now + 3 * us, among_ranks);
    EXPECT_EQ(at(policy, now + 3 * us, among_ranks), Next::yield);
}

TEST(SpinPolicy, WhereRanksOutnumberCoresYieldsAtOnceAndGivesUpSoonWithoutNeighbours) {
    LongPolls long_polls;
    long_polls.note(false);
    SpinPolicy policy(WaitPolicy::shared, {}, 10 * ms, long_polls, begin);
    std::int64_t const now = yield(policy, 4, useless, begin, quiet);
    EXPECT_EQ(at(policy, now), Next::sleep);
}

/// A wait where ranks outnumber cores and yields are useless, until `after` has passed; returns when it went to sleep.
std::int64_t sleeps_after(LongPolls& long_polls, SpinPolicy::Core core, std::int64_t after) {
    SpinPolicy policy(WaitPolicy::shared, {}, 10 * ms, long_polls, begin);
    for (std::int64_t now = begin; now < begin + after; now += us) {
        Next const next = at(policy, now, core);
        if (next == Next::sleep) return now - begin;
        if (next == Next::yield) policy.note_yield(useless, now);
    }
    return after;
}

TEST(SpinPolicy, WhereRanksOutnumberCoresGoesOnWithoutNeighboursWhileThatPays) {
    for (SpinPolicy::Core core : {quiet, contended}) {
        LongPolls long_polls;
        for (int i = 0; i < 100; ++i) EXPECT_EQ(sleeps_after(long_polls, core, 40 * us), 40 * us) << i;
        EXPECT_NEAR(sleeps_after(long_polls, core, ms), 50 * us, 3 * us);
        EXPECT_LE(sleeps_after(long_polls, core, ms), 5 * us) << "after one that brought nothing";
        EXPECT_NEAR(sleeps_after(long_polls, core, ms), 50 * us, 3 * us);
    }
}

TEST(SpinPolicy, ALongPollThatEndsByItsNumberOfYieldsBroughtNothing) {
    LongPolls long_polls;
    {
        SpinPolicy policy(WaitPolicy::shared, {}, 10 * ms, long_polls, begin);
        std::int64_t now = yield(policy, 4, useless, begin, quiet);
        EXPECT_EQ(at(policy, now), Next::yield) << "a long poll";
        policy.note_yield(useful, now);
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
    EXPECT_EQ(at(policy, now, among_ranks), Next::sleep) << "thirty-two turns of the others";
}

TEST(SpinPolicy, AWaitsOwnWishCountsMoreThanTheRanksRule) {
    LongPolls long_polls;
    SpinPolicy stubborn(WaitPolicy::shared, WaitPolicy::dedicated, 10 * ms, long_polls, begin);
    EXPECT_EQ(at(stubborn, begin + 24 * us, contended), Next::poll);
    EXPECT_EQ(at(stubborn, begin + 9 * ms, contended), Next::yield);
    SpinPolicy yielding(WaitPolicy::dedicated, WaitPolicy::shared, 10 * ms, long_polls, begin);
    EXPECT_EQ(at(yielding, begin), Next::yield);
}

TEST(SpinPolicy, TellsForHowLongTheThreadOnlyPolled) {
    LongPolls long_polls;
    SpinPolicy policy(WaitPolicy::dedicated, {}, 10 * ms, long_polls, begin);
    EXPECT_TRUE(policy.fresh());
    EXPECT_EQ(policy.note_clock(begin), 0) << "not known";
    EXPECT_FALSE(policy.fresh());
    EXPECT_EQ(policy.note_clock(begin + 7 * us), 7 * us);
    policy.interrupt();
    EXPECT_EQ(policy.note_clock(begin + 9 * us), 0);
    int polls = 0;
    while (!policy.count_poll()) ++polls;
    EXPECT_GT(polls, 1);
    policy.note_clock(begin + 10 * us);
    EXPECT_FALSE(policy.count_poll()) << "counted from the last reading on";
}

}   // namespace
}   // namespace tutti
