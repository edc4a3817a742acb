// SPDX-License-Identifier: BSD-3-Clause
// Cartesian topologies: coordinates and ranks are inverse, shifts, sub-grids. Graphs: checks and neighbours.
#include "runtime/objects/virtual_topology.hpp"

#include <climits>

#include <gmock/gmock.h>

#include "tests/runtime/error_of.hpp"

using namespace tutti;
using testing::ElementsAre;

namespace {

CartTopology grid(std::vector<int> dims, std::vector<bool> periodic, int rank = 0) {
    return CartTopology::make(dims, std::move(periodic), 1000, rank);
}

ErrorClass graph_error(std::vector<int> index, std::vector<int> edges, int available = 10) {
    return error_of([&] { GraphTopology::make(index, edges.data(), available); });
}

}   // namespace

TEST(Cart, CoordinatesAndRanksAreEachOthersInverse) {
    CartTopology g = grid({3, 1, 4, 2}, {false, false, true, false});
    EXPECT_EQ(g.size(), 24);
    for (int rank = 0; rank < g.size(); ++rank) EXPECT_EQ(g.rank_at(g.coords_of(rank)), rank);
    EXPECT_THAT(g.coords_of(1), ElementsAre(0, 0, 0, 1));
    EXPECT_THAT(g.coords_of(23), ElementsAre(2, 0, 3, 1));
}

TEST(Cart, CoordinatesWrapInPeriodicDimensionsOnly) {
    CartTopology g = grid({3, 4}, {false, true});
    EXPECT_EQ(g.rank_at(std::vector{1, -1}), 7);
    EXPECT_EQ(g.rank_at(std::vector{1, 9}), 5);
    EXPECT_EQ(g.rank_at(std::vector{2, INT_MIN}), 8);
    EXPECT_EQ(error_of([&] { g.rank_at(std::vector{3, 0}); }), ErrorClass::arg);
    EXPECT_EQ(error_of([&] { g.rank_at(std::vector{-1, 0}); }), ErrorClass::arg);
}

TEST(Cart, Shifts) {
    CartTopology g = grid({3, 4}, {false, true}, 4);   // at (1, 0)
    EXPECT_THAT(g.coords, ElementsAre(1, 0));
    EXPECT_EQ(g.shifted(0, 1), 8);
    EXPECT_EQ(g.shifted(0, 2), std::nullopt);
    EXPECT_EQ(g.shifted(0, -1), 0);
    EXPECT_EQ(g.shifted(1, -1), 7);
    EXPECT_EQ(g.shifted(1, 4), 4);
    EXPECT_EQ(g.shifted(1, -9), 7);
    EXPECT_EQ(g.shifted(1, 0), 4);
    EXPECT_EQ(g.shifted(1, INT_MAX), 7);
    EXPECT_EQ(g.shifted(0, INT_MIN), std::nullopt);
}

TEST(Cart, SubGridsKeepOrderAndAreNumbered) {
    CartTopology g = grid({2, 3, 2}, {true, false, true}, 9);   // at (1, 1, 1)
    std::vector<bool> remain{true, false, true};
    CartTopology part = g.sub(remain);
    EXPECT_THAT(part.dims, ElementsAre(2, 2));
    EXPECT_THAT(part.coords, ElementsAre(1, 1));
    EXPECT_THAT(part.periodic, ElementsAre(true, true));
    EXPECT_EQ(g.sub_index(remain, 9), 1);
    int members = 0;
    for (int rank = 0; rank < g.size(); ++rank) members += g.sub_index(remain, rank) == 1;
    EXPECT_EQ(members, 4);
    EXPECT_EQ(g.sub_index({false, false, false}, 9), 9);
    EXPECT_EQ(g.sub({false, false, false}).size(), 1);
}

TEST(Cart, WithoutDimensionsHasOneProcess) {
    CartTopology g = grid({}, {});
    EXPECT_EQ(g.size(), 1);
    EXPECT_EQ(g.rank_at({}), 0);
    EXPECT_TRUE(g.coords_of(0).empty());
}

TEST(Cart, RefusesImpossibleGrids) {
    EXPECT_EQ(error_of([] { grid({3, 0}, {false, false}); }), ErrorClass::dims);
    EXPECT_EQ(error_of([] { grid({-3, -3}, {false, false}); }), ErrorClass::dims);
    EXPECT_EQ(error_of([] { grid({1001}, {false}); }), ErrorClass::dims);
    EXPECT_EQ(error_of([] { grid({65536, 65536, 65536, 65536, 65536}, {0, 0, 0, 0, 0}); }), ErrorClass::dims);
}

TEST(Graph, KnowsItsNeighbours) {
    std::vector<int> index{2, 3, 4, 6}, edges{1, 3, 0, 3, 0, 2};   // the standard's example, 7.5.3
    GraphTopology g = GraphTopology::make(index, edges.data(), 4);
    EXPECT_EQ(g.nodes(), 4);
    EXPECT_THAT(g.neighbors(0), ElementsAre(1, 3));
    EXPECT_THAT(g.neighbors(1), ElementsAre(0));
    EXPECT_THAT(g.neighbors(3), ElementsAre(0, 2));
}

TEST(Graph, MayHaveLoopsDoubleEdgesAndLonelyNodes) {
    EXPECT_EQ(graph_error({3, 3, 4}, {0, 1, 1, 2}), ErrorClass::success);
    EXPECT_EQ(graph_error({0, 0}, {}), ErrorClass::success);
    EXPECT_EQ(graph_error({}, {}), ErrorClass::success);
}

TEST(Graph, RefusesDecreasingIndicesAndEdgesOutOfRange) {
    EXPECT_EQ(graph_error({2, 1}, {0, 0}), ErrorClass::arg);
    EXPECT_EQ(graph_error({-1}, {}), ErrorClass::arg);
    EXPECT_EQ(graph_error({1, 2}, {0, 2}), ErrorClass::arg);
    EXPECT_EQ(graph_error({1, 2}, {0, -1}), ErrorClass::arg);
    EXPECT_EQ(graph_error({0, 0, 0}, {}, 2), ErrorClass::dims);
    std::vector<int> index{1};
    EXPECT_EQ(error_of([&] { GraphTopology::make(index, nullptr, 1); }), ErrorClass::arg);
}
