// SPDX-License-Identifier: BSD-3-Clause
// The trees that messages run along, and the nodes with their masters.
#include <gtest/gtest.h>

#include <cmath>

#include "coll/blocks/trees/branch.hpp"
#include "coll/blocks/nodes/master_nodes.hpp"
#include "tests/coll/world/world.hpp"

namespace tutti::coll::test {
namespace {

using Shape = Branch (*)(int, int);

/// The places of a subtree, own first, then child after child.
void collect(Shape shape, int place, int n, std::vector<int>& places) {
    places.push_back(place);
    for (int child : shape(place, n).children) collect(shape, child, n, places);
}

TEST(Branch, HasEveryPlaceOnceInAscendingOrder) {
    for (Shape shape : {binomial_branch, binary_branch, chain_branch})
        for (int n = 1; n <= 70; ++n) {
            std::vector<int> places;
            collect(shape, 0, n, places);
            ASSERT_EQ(places.size(), static_cast<std::size_t>(n));
            for (int i = 0; i < n; ++i) EXPECT_EQ(places[static_cast<std::size_t>(i)], i) << "of " << n;
        }
}

TEST(Branch, KnowsParentAndDepth) {
    for (Shape shape : {binomial_branch, binary_branch, chain_branch})
        for (int n = 1; n <= 70; ++n) {
            EXPECT_EQ(shape(0, n).parent, -1);
            EXPECT_EQ(shape(0, n).depth, 0);
            for (int i = 0; i < n; ++i)
                for (int child : shape(i, n).children) {
                    EXPECT_EQ(shape(child, n).parent, i) << "of " << child << " of " << n;
                    EXPECT_EQ(shape(child, n).depth, shape(i, n).depth + 1) << "of " << child << " of " << n;
                }
        }
}

TEST(Branch, IsAsDeepAsLogarithmsSay) {
    for (int n = 1; n <= 70; ++n)
        for (int i = 0; i < n; ++i) {
            EXPECT_LE(binomial_branch(i, n).depth, std::ceil(std::log2(n)));
            EXPECT_LE(binary_branch(i, n).depth, std::floor(std::log2(n)));
            EXPECT_LE(binary_branch(i, n).children.size(), 2u);
        }
}

TEST(MasterNodes, LieUnderTheOutermostTeamWhateverLevelsAreInside) {
    topo::Hierarchy const tree = make_tree(8, 3);   // pairs, fours, all
    MasterNodes const nodes(tree);
    ASSERT_EQ(nodes.count(), 2);
    EXPECT_EQ(nodes.master(1), 4);
    for (int rank = 0; rank < 8; ++rank) {
        EXPECT_EQ(nodes.node_of(rank), rank / 4);
        EXPECT_EQ(nodes.ranks_with(rank).size(), 4u);
    }
    EXPECT_TRUE(nodes.consecutive());
}

TEST(MasterNodes, AreOneWhereAllRanksAreEquallyNear) {
    topo::Hierarchy const tree = make_tree(5, 1);
    MasterNodes const nodes(tree);
    ASSERT_EQ(nodes.count(), 1);
    EXPECT_EQ(nodes.master(0), 0);
    EXPECT_EQ(nodes.ranks_with(3).size(), 5u);
    EXPECT_TRUE(nodes.consecutive());
}

TEST(MasterNodes, TellWhenRanksAreDealtOut) {
    topo::Hierarchy const tree = make_tree(6, 2, true);   // 0 3, 1 4, 2 5
    MasterNodes const nodes(tree);
    ASSERT_EQ(nodes.count(), 3);
    EXPECT_EQ(nodes.node_of(4), 1);
    EXPECT_EQ(nodes.master(1), 1);
    EXPECT_FALSE(nodes.consecutive());
}

TEST(MasterBranch, PutsTheAskedNodeAtTheTop) {
    topo::Hierarchy const tree = make_tree(12, 3);   // nodes 0…3, 4…7, 8…11
    MasterNodes const nodes(tree);
    EXPECT_EQ(MasterBranch(nodes, 1, 1, binary_branch).parent, -1);
    EXPECT_EQ(MasterBranch(nodes, 1, 1, binary_branch).children, (std::vector<int>{8, 0}));
    EXPECT_EQ(MasterBranch(nodes, 0, 1, binary_branch).parent, 4);
}

}  // namespace
}  // namespace tutti::coll::test
