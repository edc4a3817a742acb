// SPDX-License-Identifier: BSD-3-Clause
// Tests which calls reuse the converted arguments of an earlier call, and which convert them again.
#include "mpi_h/collectives/bound_calls.hpp"

#include <gtest/gtest.h>

namespace tutti {
namespace {

struct Bound {
    int number;
};

/// Calls with two arguments; the result of the conversion is a running number.
struct Calls {
    using Recent = RecentCalls<Bound, 2>;

    /// The number with which the call ran.
    int operator()(Recent::Arguments const& arguments, std::uint64_t freed = 0) {
        Recent::Entry& entry = recent.entry_for(arguments);
        if (entry.matches(arguments, freed)) return entry.bound().number;
        if (entry.in_use()) return ++made;
        Recent::Running const running(entry, freed);
        return entry.make(arguments, {++made}).number;
    }

    Recent recent;
    int made = 0;
};

constexpr int world = MPI_COMM_WORLD, self = MPI_COMM_SELF, first_dup = static_cast<int>(0x84000000u);

TEST(RecentCalls, AreMadeOnceForTheSameArguments) {
    Calls calls;
    for (int i = 0; i < 3; ++i) EXPECT_EQ(calls({world, 8}), 1);
}

TEST(RecentCalls, AreMadeAnewForOtherArguments) {
    RecentCalls<Bound, 3> recent;
    for (int count : {8, 9, 8}) {
        auto& entry = recent.entry_for({world, count, 0});
        EXPECT_FALSE(entry.matches({world, count, 0}, 0)) << count;
        RecentCalls<Bound, 3>::Running const running(entry, 0);
        EXPECT_EQ(entry.make({world, count, 0}, {count}).number, count);
    }
    EXPECT_TRUE(recent.entry_for({world, 8, 0}).matches({world, 8, 0}, 0));
}

TEST(RecentCalls, AreKeptForSeveralRoots) {
    Calls calls;
    for (int round = 0; round < 2; ++round)
        for (int root = 0; root < 8; ++root) EXPECT_EQ(calls({world, root}), root + 1);
}

TEST(RecentCalls, AreMadeAnewWhenAHandleWasFreed) {
    Calls calls;
    EXPECT_EQ(calls({world, 8}, 5), 1);
    EXPECT_EQ(calls({world, 8}, 6), 2);
    EXPECT_EQ(calls({world, 8}, 6), 2);
}

TEST(RecentCalls, AreKeptForACommunicatorBesideThePredefinedOnes) {
    Calls calls;
    EXPECT_EQ(calls({world, 8}), 1);
    EXPECT_EQ(calls({self, 8}), 2);
    EXPECT_EQ(calls({first_dup, 8}), 3);
    EXPECT_EQ(calls({world, 8}), 1);
    EXPECT_EQ(calls({self, 8}), 2);
    EXPECT_EQ(calls({first_dup, 8}), 3);
}

TEST(RecentCalls, OneWithinAnotherIsMadeForItself) {
    Calls calls;
    EXPECT_EQ(calls({world, 8}), 1);
    {
        Calls::Recent::Running const running(calls.recent.entry_for({world, 8}), 0);
        EXPECT_EQ(calls({world, 8}), 2);
        EXPECT_EQ(calls.recent.entry_for({world, 8}).bound().number, 1);
    }
    EXPECT_EQ(calls({world, 8}), 1);
}

}   // namespace
}   // namespace tutti
