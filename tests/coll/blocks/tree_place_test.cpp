// SPDX-License-Identifier: BSD-3-Clause
// The trees along which messages are sent, and the partition of ranks into nodes with masters.
#include <gtest/gtest.h>

#include <cmath>

#include "coll/blocks/nodes.hpp"
#include "tests/coll/world/world.hpp"

namespace tutti::coll::test {
namespace {

FramePool pool;

template <int degree>
TreePosition n_ary(FramePool& frames, int place, int n) {
    return n_ary_tree(frames, place, n, degree);
}

constexpr TreeShape tree_shapes[] = {binomial_tree, binary_tree, chain_tree, star_tree,
                                     n_ary<3>,      n_ary<4>,    n_ary<5>,   n_ary<6>};

/// The positions of a subtree in preorder: its root, then the subtree of each child.
void collect(TreeShape shape, int place, int n, std::vector<int>& places) {
    places.push_back(place);
    for (int child : shape(pool, place, n).children) collect(shape, child, n, places);
}

TEST(TreePosition, VisitsEveryPositionOnceInAscendingOrder) {
    for (TreeShape shape : tree_shapes)
        for (int n = 1; n <= 70; ++n) {
            std::vector<int> places;
            collect(shape, 0, n, places);
            ASSERT_EQ(places.size(), static_cast<std::size_t>(n));
            for (int i = 0; i < n; ++i) EXPECT_EQ(places[static_cast<std::size_t>(i)], i) << "of " << n;
        }
}

TEST(TreePosition, HasConsistentParentAndDepth) {
    for (TreeShape shape : tree_shapes)
        for (int n = 1; n <= 70; ++n) {
            EXPECT_EQ(shape(pool, 0, n).parent, -1);
            EXPECT_EQ(shape(pool, 0, n).depth, 0);
            for (int i = 0; i < n; ++i)
                for (int child : shape(pool, i, n).children) {
                    EXPECT_EQ(shape(pool, child, n).parent, i) << "of " << child << " of " << n;
                    EXPECT_EQ(shape(pool, child, n).depth, shape(pool, i, n).depth + 1) << child << " of " << n;
                }
        }
}

TEST(TreePosition, HasLogarithmicDepth) {
    for (int n = 1; n <= 70; ++n)
        for (int i = 0; i < n; ++i) {
            EXPECT_LE(binomial_tree(pool, i, n).depth, std::ceil(std::log2(n)));
            EXPECT_LE(binary_tree(pool, i, n).depth, std::floor(std::log2(n)));
            EXPECT_LE(binary_tree(pool, i, n).children.size(), 2u);
        }
}

TEST(TreePosition, RotatesRanksSoThatTheRootIsFirst) {
    for (int n = 1; n <= 20; ++n)
        for (int top = 0; top < n; ++top) {
            std::vector<int> seen{top};
            for (std::size_t i = 0; i < seen.size(); ++i) {
                TreePosition const t = position_under(pool, binomial_tree, top, seen[i], n);
                EXPECT_EQ(t.parent == -1, i == 0);
                for (int child : t.children) {
                    EXPECT_EQ(position_under(pool, binomial_tree, top, child, n).parent, seen[i]);
                    seen.push_back(child);
                }
            }
            EXPECT_EQ(seen.size(), static_cast<std::size_t>(n));
        }
}

TEST(TreePosition, InTheHierarchyHasTheTeamsItLeadsBelowIt) {
    topo::Hierarchy const tree = make_tree(8, 3);   // pairs, fours, all
    for (int root : {0, 5, -1}) {
        int const top = std::max(0, root);
        std::vector<int> seen{top};
        for (std::size_t i = 0; i < seen.size(); ++i) {
            LeaderPosition const t = position_in_hierarchy(pool, tree, seen[i], root);
            EXPECT_EQ(t.parent, leader_of(tree, seen[i], root));
            EXPECT_EQ(t.led_levels(), seen[i] == top ? 3 : t.level);
            for (int child : t.children) seen.push_back(child);
        }
        EXPECT_EQ(seen.size(), 8u);
    }
}

TEST(NodePartition, FollowsTheOutermostLevelOnly) {
    topo::Hierarchy const tree = make_tree(8, 3);   // pairs, fours, all
    NodePartition const nodes(tree, 0);
    ASSERT_EQ(nodes.count(), 2);
    EXPECT_EQ(nodes.master(1), 4);
    for (int rank = 0; rank < 8; ++rank) {
        EXPECT_EQ(nodes.part_of(rank), rank / 4);
        EXPECT_EQ(nodes.size(nodes.part_of(rank)), 4);
    }
    EXPECT_TRUE(nodes.is_consecutive());
}

TEST(NodePartition, IsOnePartWhereAllRanksAreEquallyClose) {
    topo::Hierarchy const tree = make_tree(5, 1);
    NodePartition const nodes(tree, 0);
    ASSERT_EQ(nodes.count(), 1);
    EXPECT_EQ(nodes.master(0), 0);
    EXPECT_EQ(nodes.size(nodes.part_of(3)), 5);
    EXPECT_TRUE(nodes.is_consecutive());
}

TEST(NodePartition, DetectsRoundRobinPlacement) {
    topo::Hierarchy const tree = make_tree(6, 2, true);   // 0 3, 1 4, 2 5
    NodePartition const nodes(tree, 0);
    ASSERT_EQ(nodes.count(), 3);
    EXPECT_EQ(nodes.part_of(4), 1);
    EXPECT_EQ(nodes.master(1), 1);
    EXPECT_FALSE(nodes.is_consecutive());
}

TEST(TreePosition, OfMastersStartsAtTheRequestedNode) {
    topo::Hierarchy const tree = make_tree(12, 3);   // nodes 0…3, 4…7, 8…11
    NodePartition const nodes(tree, 0);
    auto const place = [&](int node, int top) { return position_of_master(pool, nodes, node, top, binary_tree); };
    auto const children = [](TreePosition const& t) { return std::vector<int>(t.children.begin(), t.children.end()); };
    EXPECT_EQ(place(1, 4).parent, -1);
    EXPECT_EQ(children(place(1, 4)), (std::vector<int>{8, 0}));
    EXPECT_EQ(place(0, 4).parent, 4);
    EXPECT_EQ(place(0, 6).parent, 6);   // the root represents its node
}

}   // namespace
}   // namespace tutti::coll::test
