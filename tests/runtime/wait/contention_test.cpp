// SPDX-License-Identifier: BSD-3-Clause
// Detection of contention for a rank's core, by the clock and by the kernel's count of context switches.
#include "runtime/wait/contention.hpp"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>
#include <sched.h>

namespace tutti {
namespace {

TEST(Contention, HoldsForAWhileAndLongerIfRepeatedSoon) {
    constexpr std::int64_t slice = Contention::lost_slice_ns, hold = Contention::initial_hold_ns;
    Contention contention;
    std::int64_t now = 1'000'000'000;
    EXPECT_FALSE(contention.is_shared(now));
    EXPECT_FALSE(contention.record_gap(slice - 1, now)) << "an interrupt";
    EXPECT_FALSE(contention.is_shared(now));
    EXPECT_TRUE(contention.record_gap(slice, now));
    EXPECT_TRUE(contention.is_shared(now + hold - 1));
    EXPECT_FALSE(contention.is_shared(now + hold));
    now += hold + Contention::repeats_within_ns - 1;
    EXPECT_EQ(contention.record_yield(slice, now), Contention::Yield::lost_slice);
    EXPECT_TRUE(contention.is_shared(now + 2 * hold - 1)) << "repeated soon";
    EXPECT_FALSE(contention.is_shared(now + 2 * hold));
    now += 2 * hold + Contention::repeats_within_ns;
    EXPECT_TRUE(contention.record_gap(slice, now));
    EXPECT_FALSE(contention.is_shared(now + hold)) << "not repeated soon";
    for (int i = 0; i < 20; ++i) contention.record_gap(slice, now);
    EXPECT_TRUE(contention.is_shared(now + Contention::max_hold_ns - 1));
    EXPECT_FALSE(contention.is_shared(now + Contention::max_hold_ns)) << "the hold time has a maximum";
}

TEST(Contention, AYieldMayTakeLongerWhereManyRanksShareACore) {
    Contention alone, among_many;
    among_many.configure(true, 100);
    using enum Contention::Yield;
    EXPECT_EQ(alone.record_yield(1'500'000, 1), lost_slice);
    EXPECT_EQ(among_many.record_yield(3'000'000, 1), useful) << "time slices of a hundred ranks";
    EXPECT_EQ(among_many.record_yield(15'000'000, 1), lost_slice) << "one of them computes";
}

TEST(Contention, DetectsOtherThreadsOfItsGroupByContextSwitches) {
    Contention contention;
    EXPECT_FALSE(contention.has_neighbours());
    contention.record_switches(16, 16, 30'000);
    EXPECT_TRUE(contention.has_neighbours());
    contention.record_switches(6, 16, 20'000);
    EXPECT_TRUE(contention.has_neighbours()) << "the others sleep now and then";
    contention.record_switches(5, 16, 20'000);
    EXPECT_FALSE(contention.has_neighbours()) << "switches to threads of other groups";
}

TEST(Contention, LearnsHowLongAUselessYieldTakes) {
    using enum Contention::Yield;
    Contention contention;
    EXPECT_EQ(contention.record_yield(Contention::useless_yield_ns - 1, 1), useless);
    EXPECT_EQ(contention.record_yield(Contention::useless_yield_ns, 1), useful);
    contention.record_switches(0, 16, 16 * 1'500);
    EXPECT_EQ(contention.record_yield(1'999, 1), useless);
    EXPECT_EQ(contention.record_yield(2'000, 1), useful);
    contention.record_switches(1, 16, 16 * 3'000);
    EXPECT_EQ(contention.record_yield(2'000, 1), useful) << "one of the yields was useful";
    contention.record_switches(0, 16, 16 * 60'000);
    EXPECT_EQ(contention.record_yield(Contention::max_useless_yield_ns, 1), useful);
    EXPECT_EQ(contention.record_yield(Contention::lost_slice_ns, 1), lost_slice);
}

TEST(Contention, CountsTheKernelsSwitches) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0) GTEST_SKIP() << "the system does not permit to set the affinity";
    Contention contention;
    std::atomic<bool> over = false;
    std::thread other([&] {   // on the same core
        while (!over) sched_yield();
    });
    for (int i = 0; i < 1'000'000 && !contention.has_neighbours(); ++i) contention.record_yield(Contention::yield(), 1);
    EXPECT_TRUE(contention.has_neighbours());
    over = true;
    other.join();
}

TEST(Contention, IsNotLearnedIfCoresAreDedicated) {
    Contention contention;
    contention.configure(false, 1);
    EXPECT_FALSE(contention.record_gap(1'000'000'000, 5));
    EXPECT_FALSE(contention.is_shared(6));
}

}   // namespace
}   // namespace tutti
