// SPDX-License-Identifier: BSD-3-Clause
// The plans that schedules are composed of: the role of each rank in recursive k-ing.
#include <gtest/gtest.h>

#include "coll/blocks/schedule.hpp"

namespace tutti::coll {
namespace {

TEST(RecursiveKIngPlan, GivesEveryExtraMemberAProxyAndKeepsOrderOnRequest) {
    for (int members = 1; members <= 40; ++members)
        for (int k = 2; k <= 7; ++k)
            for (bool in_order : {false, true}) {
                RecursiveKIngPlan const plan(members, k, in_order);
                int positions = 1;
                for (int i = 0; i < plan.steps(); ++i) positions *= plan.radix();
                EXPECT_GT(positions * plan.radix(), members);
                std::vector<int> found;
                for (int p = 0; p < positions; ++p) {
                    found.push_back(plan.member_at(p));
                    for (int i = 0; i < plan.extras(p); ++i) found.push_back(plan.extra(p, i));
                    EXPECT_EQ(plan.position(plan.member_at(p)), p);
                    for (int i = 0; i < plan.extras(p); ++i) EXPECT_EQ(plan.position(plan.extra(p, i)), p);
                }
                EXPECT_TRUE(!in_order || std::is_sorted(found.begin(), found.end())) << members << " by " << k;
                std::sort(found.begin(), found.end());
                ASSERT_EQ(found.size(), static_cast<std::size_t>(members)) << k;
                for (int m = 0; m < members; ++m) EXPECT_EQ(found[static_cast<std::size_t>(m)], m);
            }
}

}   // namespace
}   // namespace tutti::coll
