// SPDX-License-Identifier: BSD-3-Clause
// Matching of incoming edges with a peer's outgoing edges: small grids, graphs with duplicates, inconsistent graphs.
#include "runtime/objects/virtual_topology.hpp"

#include <gmock/gmock.h>
#include <algorithm>

#include "runtime/base/error.hpp"

using namespace tutti;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

namespace {

std::vector<std::pair<int, int>> pairs(std::span<Neighborhood::Edge const> edges) {
    std::vector<std::pair<int, int>> all;
    for (auto const& e : edges) all.emplace_back(e.own_index, e.peer_index);
    return all;
}
std::vector<int> list(std::span<int const> numbers) { return {numbers.begin(), numbers.end()}; }
std::vector<int> ranks(Neighborhood const& n) {
    std::vector<int> all;
    for (auto const& peer : n.peers()) all.push_back(peer.rank);
    return all;
}

std::unique_ptr<Neighborhood const> of_grid(std::vector<int> dims, std::vector<bool> periodic, int rank, int size) {
    return Neighborhood::of(CartTopology::make(dims, std::move(periodic), size, rank), rank, size);
}

}   // namespace

TEST(Neighborhood, OfARingHasBothDirections) {
    auto const n = of_grid({5}, {true}, 3, 5);
    EXPECT_EQ(n->in_degree(), 2);
    EXPECT_THAT(ranks(*n), ElementsAre(4, 2));
    // The first block that rank 4 sends is the second one that rank 3 receives.
    EXPECT_THAT(pairs(n->peers()[0].in), ElementsAre(Pair(1, 0)));
    EXPECT_THAT(list(n->peers()[0].out), ElementsAre(1));
    EXPECT_THAT(pairs(n->peers()[1].in), ElementsAre(Pair(0, 1)));
    EXPECT_EQ(n->peers()[1].out_degree, 2);
}

TEST(Neighborhood, OfTwoRanksInARingCrossesTheDirections) {
    auto const n = of_grid({2}, {true}, 0, 2);
    ASSERT_EQ(n->peers().size(), 1u);
    EXPECT_THAT(pairs(n->peers()[0].in), ElementsAre(Pair(1, 0), Pair(0, 1)));
    EXPECT_THAT(list(n->peers()[0].out), ElementsAre(0, 1));
}

TEST(Neighborhood, OfOneRankInARingHasSelfEdges) {
    auto const n = of_grid({1, 2}, {true, false}, 1, 2);
    EXPECT_THAT(pairs(n->self_edges()), ElementsAre(Pair(1, 0), Pair(0, 1)));
    EXPECT_THAT(ranks(*n), ElementsAre(0));
    EXPECT_THAT(pairs(n->peers()[0].in), ElementsAre(Pair(2, 3)));
    EXPECT_EQ(n->in_degree(), 4);   // including the one beyond the border
}

TEST(Neighborhood, OfAGraphMatchesDuplicatesInOrder) {
    GraphTopology const graph{{4, 7, 8}, {1, 0, 1, 2, 0, 1, 0, 0}};
    auto const n = Neighborhood::of(graph, 0, 3);
    EXPECT_THAT(pairs(n->self_edges()), ElementsAre(Pair(1, 1)));
    EXPECT_THAT(ranks(*n), ElementsAre(1, 2));
    EXPECT_THAT(pairs(n->peers()[0].in), ElementsAre(Pair(0, 0), Pair(2, 2)));
    EXPECT_EQ(n->peers()[0].out_degree, 3);
    EXPECT_THAT(list(n->peers()[0].out), ElementsAre(0, 2));
}

TEST(Neighborhood, OfAnAsymmetricGraphIsAnError) {
    GraphTopology const graph{{2, 3}, {1, 1, 0}};
    for (int rank : {0, 1}) {
        try {
            Neighborhood::of(graph, rank, 2);
            ADD_FAILURE() << "rank " << rank;
        } catch (Error const& error) { EXPECT_EQ(error.error_class, ErrorClass::topology); }
    }
}

TEST(Neighborhood, OfADirectedGraphUsesAgreedEdges) {
    DistGraphTopology graph;
    graph.sources = {2, 0, 2};
    graph.source_edges = {{5, 6}, {0, 1}, {3, 6}};
    graph.destinations = {1};
    auto const n = Neighborhood::of(graph, 1, 3);
    EXPECT_THAT(pairs(n->self_edges()), IsEmpty());
    EXPECT_THAT(ranks(*n), ElementsAre(2, 0));
    EXPECT_THAT(pairs(n->peers()[0].in), ElementsAre(Pair(2, 3), Pair(0, 5)));   // in the order of the source's edges
    EXPECT_EQ(n->peers()[0].out_degree, 6);
    EXPECT_THAT(list(n->peers()[0].out), IsEmpty());
}
