// SPDX-License-Identifier: BSD-3-Clause
// The shapes that schedules are composed of: trees that keep the order of ranks, and who does what in recursive k-ing.
#include <gtest/gtest.h>

#include "coll/blocks/schedule/schedule.hpp"

namespace tutti::coll {
namespace {

/// The places under one, itself included, in the order in which their operands are combined.
void combined(int places, int place, int degree, std::vector<int>& order) {
    TreePlace const here(places, place, degree);
    order.push_back(place);
    for (int i = 0; i < here.children(); ++i) {
        EXPECT_EQ(TreePlace(places, here.child(i), degree).parent(), place);
        combined(places, here.child(i), degree, order);
    }
}

TEST(TreePlace, CombinesEveryPlaceOnceAndInOrder) {
    for (int places = 1; places <= 40; ++places)
        for (int degree = 1; degree <= 6; ++degree) {
            std::vector<int> order;
            combined(places, 0, degree, order);
            ASSERT_EQ(order.size(), static_cast<std::size_t>(places)) << degree;
            EXPECT_TRUE(std::is_sorted(order.begin(), order.end())) << places << " places, degree " << degree;
            EXPECT_EQ(TreePlace(places, 0, degree).parent(), -1);
        }
}

TEST(RecursiveKIngPlan, GivesEveryExtraMemberAProxyAndKeepsOrderWhereAsked) {
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

}  // namespace
}  // namespace tutti::coll
