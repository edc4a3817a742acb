// SPDX-License-Identifier: BSD-3-Clause
// Tests which entries BoundCalls finds, and which ones it replaces.
#include "mpi_h/collectives/bound_calls.hpp"

#include <gtest/gtest.h>

#include "tests/coll/world/nodes_world.hpp"

namespace tutti {
namespace {

using coll::Collective;
using Bound = BoundCall<coll::BcastArgs>;

/// Binds broadcasts of `count` elements; the root of the bound call is a running number, by which tests recognise it.
class BoundCallsOfAWorld : public testing::Test {
protected:
    BoundCalls::Entry* find(CallKey const& key, std::uint64_t freed) {
        return calls_.find(key, [&] { return freed; });
    }
    /// Returns the number of the call that is reused or bound for this key.
    int number(CallKey const& key, std::uint64_t freed = 0) {
        if (BoundCalls::Entry* const entry = find(key, freed)) return entry->call<Bound>().args.root;
        coll::BcastArgs args{};
        args.root = ++bound_;
        BoundCalls::Entry* const entry = calls_.add(key, freed, Bound{comm(), Collective::bcast, args});
        return entry ? entry->call<Bound>().args.root : -bound_;
    }
    Comm& comm() { return world_.comm(0); }
    static CallKey key(int count, int root = 0) { return {Collective::bcast, count, type_handle, root}; }

    static constexpr int type_handle = 0x4c000405;
    coll::test::NodesWorld world_{{0}, Variables{}};
    BoundCalls calls_{false};
    int bound_ = 0;
};

TEST_F(BoundCallsOfAWorld, AreBoundOnceForEqualArguments) {
    for (int i = 0; i < 3; ++i) EXPECT_EQ(number(key(8)), 1);
}

TEST_F(BoundCallsOfAWorld, AreKeptForTwoAlternatingCounts) {
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(number(key(8)), 1);
        EXPECT_EQ(number(key(9)), 2);
    }
}

TEST_F(BoundCallsOfAWorld, AreKeptForSeveralRoots) {
    for (int root = 0; root < 8; ++root) number(key(1, root));
    int const once = bound_;
    for (int round = 0; round < 3; ++round)
        for (int root = 0; root < 8; ++root) number(key(1, root));
    EXPECT_EQ(once, 8);
    EXPECT_EQ(bound_, 8);
}

TEST_F(BoundCallsOfAWorld, DifferInEachArgument) {
    CallKey const keys[] = {{Collective::gather, 1, 2, 3, 4, 5}, {Collective::scatter, 1, 2, 3, 4, 5},
                            {Collective::gather, 0, 2, 3, 4, 5}, {Collective::gather, 1, 0, 3, 4, 5},
                            {Collective::gather, 1, 2, 0, 4, 5}, {Collective::gather, 1, 2, 3, 0, 5},
                            {Collective::gather, 1, 2, 3, 4, 0}, {Collective::gather, 2, 1, 3, 4, 5}};
    for (CallKey const& a : keys)
        for (CallKey const& b : keys) EXPECT_EQ(a == b, &a == &b);
    EXPECT_FALSE(CallKey() == CallKey(Collective::barrier)) << "the key of no call";
}

TEST_F(BoundCallsOfAWorld, AreBoundAnewWhenAHandleWasFreed) {
    EXPECT_EQ(number(key(8), 5), 1);
    EXPECT_EQ(number(key(8), 6), 2);
    EXPECT_EQ(number(key(8), 6), 2);
}

TEST_F(BoundCallsOfAWorld, StayValidWithPredefinedObjects) {
    calls_.add(key(8), BoundCalls::predefined_only, Bound{comm(), Collective::bcast, {}});
    EXPECT_TRUE(find(key(8), 1));
    EXPECT_TRUE(find(key(8), 2));
}

TEST_F(BoundCallsOfAWorld, AreNotSharedWithARunningCall) {
    EXPECT_EQ(number(key(8)), 1);
    BoundCalls::Entry& entry = *find(key(8), 0);
    {
        BoundCalls::Running const running(entry);
        EXPECT_EQ(number(key(8)), -2) << "bound, but not stored";
        for (int other = 0; other < 100; ++other) number(key(1000 + other));
        EXPECT_EQ(entry.call<Bound>().args.root, 1) << "never replaced";
    }
    EXPECT_EQ(number(key(8)) == 1, find(key(8), 0) == &entry);
}

TEST_F(BoundCallsOfAWorld, ReplaceTheOneUsedLongestAgo) {
    for (int count = 0; count < 200; ++count) {
        number(key(1000));
        number(key(count));
    }
    EXPECT_EQ(bound_, 201) << "the call that was used in each round is bound once";
    EXPECT_TRUE(find(key(199), 0));
    int kept = 0;
    for (int count = 0; count < 200; ++count) kept += find(key(count), 0) != nullptr;
    EXPECT_EQ(kept, 31) << "all sets are full";
}

}   // namespace
}   // namespace tutti
