// SPDX-License-Identifier: BSD-3-Clause
// Group operations, compared with their definitions on random groups, and every invalid argument.
#include "runtime/objects/group.hpp"

#include <algorithm>
#include <numeric>
#include <random>

#include <gmock/gmock.h>

#include "tests/runtime/error_of.hpp"

using namespace tutti;
using testing::ElementsAre;

namespace {

Ref<Group> group(std::vector<int> ranks, int me = 0) { return Ref<Group>::adopt(new Group(std::move(ranks), me)); }

std::vector<int> members(Ref<Group> const& g) { return {g->world_ranks().begin(), g->world_ranks().end()}; }

Ref<Group> whole(int size) {
    std::vector<int> ranks(static_cast<std::size_t>(size));
    std::iota(ranks.begin(), ranks.end(), 0);
    return group(ranks);
}

ErrorClass range_error(RankRange range) {
    auto of = whole(10);
    return error_of([&] { group_range_incl(*of, {&range, 1}); });
}

}   // namespace

TEST(Group, KnowsItsMembersAndThisProcess) {
    auto g = group({5, 2, 9}, 9);
    EXPECT_EQ(g->size(), 3);
    EXPECT_EQ(g->rank(), 2);
    EXPECT_EQ(g->rank_of(2), 1);
    EXPECT_EQ(g->rank_of(3), -1);
    EXPECT_EQ(g->rank_of(100), -1);
    EXPECT_EQ(group({5, 2}, 9)->rank(), -1);
    EXPECT_EQ(group({}, 9)->rank_of(0), -1);
}

TEST(GroupCalculus, Compares) {
    EXPECT_EQ(compare(*group({1, 2, 3}), *group({1, 2, 3})), GroupComparison::identical);
    EXPECT_EQ(compare(*group({1, 2, 3}), *group({3, 1, 2})), GroupComparison::similar);
    EXPECT_EQ(compare(*group({1, 2, 3}), *group({1, 2, 4})), GroupComparison::unequal);
    EXPECT_EQ(compare(*group({1, 2, 3}), *group({1, 2})), GroupComparison::unequal);
    EXPECT_EQ(compare(*group({}), *group({})), GroupComparison::identical);
}

TEST(GroupCalculus, SetOperationsFollowTheirDefinitions) {
    std::mt19937 random(7);
    for (int round = 0; round < 200; ++round) {
        std::vector<int> all(20);
        std::iota(all.begin(), all.end(), 0);
        std::shuffle(all.begin(), all.end(), random);
        std::vector<int> left(all.begin(), all.begin() + round % 20);
        std::shuffle(all.begin(), all.end(), random);
        std::vector<int> right(all.begin(), all.begin() + round * 7 % 20);
        auto has = [](std::vector<int> const& v, int x) { return std::find(v.begin(), v.end(), x) != v.end(); };

        std::vector<int> both, only_left, either = left;
        for (int x : left) (has(right, x) ? both : only_left).push_back(x);
        for (int x : right)
            if (!has(left, x)) either.push_back(x);
        auto a = group(left), b = group(right);
        EXPECT_EQ(members(group_intersection(*a, *b)), both);
        EXPECT_EQ(members(group_difference(*a, *b)), only_left);
        EXPECT_EQ(members(group_union(*a, *b)), either);
    }
}

TEST(GroupCalculus, InclKeepsTheGivenOrderAndExclTheGroups) {
    auto g = group({10, 11, 12, 13, 14}, 13);
    std::vector<int> ranks{3, 0, 4};
    EXPECT_THAT(members(group_incl(*g, ranks)), ElementsAre(13, 10, 14));
    EXPECT_EQ(group_incl(*g, ranks)->rank(), 0);
    EXPECT_THAT(members(group_excl(*g, ranks)), ElementsAre(11, 12));
    EXPECT_EQ(group_incl(*g, {})->size(), 0);
    EXPECT_EQ(group_excl(*g, {})->size(), 5);
}

TEST(GroupCalculus, RefusesRanksOutOfRangeAndDuplicates) {
    auto g = whole(5);
    for (std::vector<int> ranks : {std::vector{5}, {-1}, {1, 2, 1}, {0, 1, 2, 3, 4, 0}}) {
        EXPECT_EQ(error_of([&] { group_incl(*g, ranks); }), ErrorClass::rank);
        EXPECT_EQ(error_of([&] { group_excl(*g, ranks); }), ErrorClass::rank);
    }
}

TEST(GroupCalculus, RangesMayDecreaseAndMissTheirEnd) {
    auto g = whole(12);
    std::vector<RankRange> ranges{{1, 6, 2}, {11, 8, -3}, {7, 7, 5}};
    EXPECT_THAT(members(group_range_incl(*g, ranges)), ElementsAre(1, 3, 5, 11, 8, 7));
    EXPECT_THAT(members(group_range_excl(*g, ranges)), ElementsAre(0, 2, 4, 6, 9, 10));
    std::vector<RankRange> beyond{{0, 100, 6}};   // 0, 6, 12 …
    EXPECT_EQ(error_of([&] { group_range_incl(*g, beyond); }), ErrorClass::rank);
    std::vector<RankRange> short_of_its_end{{0, 15, 8}, {9, -1, -6}};
    EXPECT_THAT(members(group_range_incl(*g, short_of_its_end)), ElementsAre(0, 8, 9, 3));
}

TEST(GroupCalculus, RefusesInvalidRanges) {
    EXPECT_EQ(range_error({0, 5, 0}), ErrorClass::arg);
    EXPECT_EQ(range_error({5, 0, 1}), ErrorClass::arg);
    EXPECT_EQ(range_error({0, 5, -1}), ErrorClass::arg);
    EXPECT_EQ(range_error({-1, 5, 1}), ErrorClass::rank);
    EXPECT_EQ(range_error({10, 5, -1}), ErrorClass::rank);
    EXPECT_EQ(range_error({0, 10, 1}), ErrorClass::rank);
    EXPECT_EQ(range_error({0, 2147483647, 1}), ErrorClass::rank);
    EXPECT_EQ(range_error({0, -2147483647 - 1, -1}), ErrorClass::rank);
    EXPECT_EQ(range_error({0, 9, 1}), ErrorClass::success);
    auto g = whole(10);
    std::vector<RankRange> overlapping{{0, 4, 1}, {4, 8, 2}};
    EXPECT_EQ(error_of([&] { group_range_incl(*g, overlapping); }), ErrorClass::rank);
}

TEST(GroupCalculus, LargeGroupsTakeLinearTime) {
    constexpr int size = 1 << 20;
    auto g = whole(size);
    RankRange odd{1, size - 1, 2}, backwards{size - 1, 0, -1};
    auto half = group_range_incl(*g, {&odd, 1}), reversed = group_range_incl(*g, {&backwards, 1});
    EXPECT_EQ(group_union(*half, *reversed)->size(), size);
    EXPECT_EQ(group_intersection(*reversed, *half)->world_rank(0), size - 1);
    EXPECT_EQ(group_difference(*reversed, *half)->size(), size / 2);
    EXPECT_EQ(compare(*g, *reversed), GroupComparison::similar);
}
