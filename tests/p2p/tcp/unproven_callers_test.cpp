// SPDX-License-Identifier: BSD-3-Clause
// Which unauthenticated caller is disconnected when another one connects.
#include <gtest/gtest.h>

#include "p2p/tcp/unproven_callers.hpp"

namespace tutti::p2p::tcp {
namespace {

TEST(UnprovenCallers, TheOldestOfAnAddressIsRemovedFirst) {
    UnprovenCallers callers;
    std::uint64_t number = 0, expected = 0;
    for (std::size_t i = 0; i < UnprovenCallers::other_bounds.per_address; ++i)
        EXPECT_EQ(callers.add(++number, "10.9.0.1", false), 0u);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(callers.add(++number, "10.9.0.1", false), ++expected);
    EXPECT_EQ(callers.size(), UnprovenCallers::other_bounds.per_address);
    EXPECT_FALSE(callers.contains(expected));
    EXPECT_TRUE(callers.contains(number));
}

TEST(UnprovenCallers, ManyAddressesDisplaceNoneOfTheJobsNodes) {
    UnprovenCallers callers;
    EXPECT_EQ(callers.add(1, "10.0.0.1", true), 0u);
    for (std::uint64_t i = 2; i < 5'000; ++i) EXPECT_NE(callers.add(i, std::to_string(i), false), 1u);
    EXPECT_TRUE(callers.contains(1));
    EXPECT_EQ(callers.size(), UnprovenCallers::other_bounds.total + 1);
}

TEST(UnprovenCallers, OneNodeDisplacesItsOwnCallersOnly) {
    UnprovenCallers callers;
    callers.add(1, "10.0.0.1", true);
    for (std::uint64_t i = 2; i < 5'000; ++i) EXPECT_NE(callers.add(i, "10.0.0.2", true), 1u);
    EXPECT_TRUE(callers.contains(1));
    EXPECT_EQ(callers.size(), UnprovenCallers::job_node_bounds.per_address + 1);
}

TEST(UnprovenCallers, OutOfDescriptorsCallersFromElsewhereAreRemovedFirst) {
    UnprovenCallers callers;
    EXPECT_EQ(callers.oldest(), 0u);
    callers.add(1, "10.0.0.1", true);
    callers.add(2, "10.9.0.1", false);
    EXPECT_EQ(callers.oldest(), 2u);
    callers.remove(2);
    EXPECT_EQ(callers.oldest(), 1u);
    callers.remove(1);
    EXPECT_EQ(callers.size(), 0u);
}

}   // namespace
}   // namespace tutti::p2p::tcp
