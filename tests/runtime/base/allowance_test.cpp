// SPDX-License-Identifier: BSD-3-Clause
// An allowance grants one percent of the elapsed time, divided by the number of ranks that share the core.
#include "runtime/base/allowance.hpp"

#include <gtest/gtest.h>

namespace tutti::test {
namespace {

constexpr std::int64_t saved = Allowance::max_saved_ns;

/// The nanoseconds that are spent within `ns`, in slices, as long as they are granted.
std::int64_t spent_in(Allowance& allowance, std::int64_t ns, std::int64_t slice) {
    std::int64_t spent = 0;
    for (std::int64_t now = 1; now <= ns; now += 10'000)
        while (allowance.grants(now)) {
            allowance.spend(slice);
            spent += slice;
        }
    return spent;
}

TEST(Allowance, IsOnePercentOfTheTime) {
    for (std::int64_t const slice : {100, 10'000, 300'000}) {
        Allowance allowance;
        std::int64_t const spent = spent_in(allowance, 1'000'000'000, slice);
        EXPECT_LE(spent, 10'000'000 + saved + slice) << slice;
        EXPECT_GE(spent, 10'000'000) << slice;
    }
}

TEST(Allowance, IsOnePercentOfACoreForAllRanksThatShareIt) {
    Allowance allowance(128);
    EXPECT_LE(spent_in(allowance, 10'000'000'000, 1'000), 10'000'000'000 / 12'800 + saved + 1'000);
}

TEST(Allowance, StartsSmallForVeryManyRanks) {
    EXPECT_EQ(Allowance(16).max_ns(), saved);
    Allowance allowance(512);
    EXPECT_EQ(512 * allowance.max_ns(), Allowance::max_saved_on_core_ns);
    EXPECT_LE(spent_in(allowance, 1'000'000, 1'000), allowance.max_ns() + 1'000);
}

TEST(Allowance, SavesUpABoundedAmount) {
    Allowance allowance;
    EXPECT_TRUE(allowance.grants(1));
    allowance.spend(saved + 1);
    EXPECT_FALSE(allowance.grants(2));
    EXPECT_TRUE(allowance.grants(1'000'000'000'000));
    allowance.spend(saved + 1);
    EXPECT_FALSE(allowance.grants(1'000'000'000'001));
}

TEST(Allowance, PausesNoLongerThanASecond) {
    Allowance allowance(128);
    EXPECT_TRUE(allowance.grants(1));
    allowance.spend(1'000'000'000);
    EXPECT_FALSE(allowance.grants(900'000'000));
    EXPECT_TRUE(allowance.grants(1'100'000'000));
}

TEST(Allowance, KeepsAReserve) {
    Allowance allowance;
    allowance.spend(saved / 2);
    EXPECT_FALSE(allowance.grants(1, saved / 2));
    EXPECT_TRUE(allowance.grants(1));
}

}   // namespace
}   // namespace tutti::test
