// SPDX-License-Identifier: BSD-3-Clause
// What a rank learns of its core from the clock and from the kernel's count of switches.
#include "runtime/wait/contention.hpp"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>
#include <sched.h>

namespace tutti {
namespace {

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
    EXPECT_EQ(contention.note_yield(slice, now), Contention::Yield::lost_slice);
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
    using enum Contention::Yield;
    EXPECT_EQ(alone.note_yield(1'500'000, 1), lost_slice);
    EXPECT_EQ(among_many.note_yield(3'000'000, 1), useful) << "a hundred have had their turns";
    EXPECT_EQ(among_many.note_yield(15'000'000, 1), lost_slice) << "one of them computes";
}

TEST(Contention, KnowsFromSwitchesThatThereAreOtherThreadsInItsGroup) {
    Contention contention;
    EXPECT_FALSE(contention.has_neighbours());
    contention.note_switches(16, 16, 30'000);
    EXPECT_TRUE(contention.has_neighbours());
    contention.note_switches(6, 16, 20'000);
    EXPECT_TRUE(contention.has_neighbours()) << "they sleep now and then";
    contention.note_switches(5, 16, 20'000);
    EXPECT_FALSE(contention.has_neighbours()) << "threads of other groups have come in between";
}

TEST(Contention, LearnsHowLongAUselessYieldTakes) {
    using enum Contention::Yield;
    Contention contention;
    EXPECT_EQ(contention.note_yield(Contention::useless_yield_ns - 1, 1), useless);
    EXPECT_EQ(contention.note_yield(Contention::useless_yield_ns, 1), useful);
    contention.note_switches(0, 16, 16 * 1'500);
    EXPECT_EQ(contention.note_yield(1'999, 1), useless);
    EXPECT_EQ(contention.note_yield(2'000, 1), useful);
    contention.note_switches(1, 16, 16 * 3'000);
    EXPECT_EQ(contention.note_yield(2'000, 1), useful) << "one of them was not useless";
    contention.note_switches(0, 16, 16 * 60'000);
    EXPECT_EQ(contention.note_yield(Contention::most_useless_yield_ns, 1), useful);
    EXPECT_EQ(contention.note_yield(Contention::lost_slice_ns, 1), lost_slice);
}

TEST(Contention, CountsTheKernelsSwitches) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0) GTEST_SKIP() << "the system allows no affinity";
    Contention contention;
    std::atomic<bool> over = false;
    std::thread other([&] {   // on the same core
        while (!over) sched_yield();
    });
    for (int i = 0; i < 1'000'000 && !contention.has_neighbours(); ++i) contention.note_yield(Contention::yield(), 1);
    EXPECT_TRUE(contention.has_neighbours());
    over = true;
    other.join();
}

TEST(Contention, IsNotLearnedWhereTheUserSaysThatCoresAreDedicated) {
    Contention contention;
    contention.configure(false, 1);
    EXPECT_FALSE(contention.note_gap(1'000'000'000, 5));
    EXPECT_FALSE(contention.shared(6));
}

}   // namespace
}   // namespace tutti
