// SPDX-License-Identifier: BSD-3-Clause
// The plan of a relayed alltoall on clusters of any shape: which rank carries which parts in which turn, and its
// memory.
#include "coll/blocks/relay.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace tutti::coll {
namespace {

constexpr std::size_t memory = 16 << 20, piece = 4096;

/// The number of ranks of each node.
NodePartition division(std::vector<int> const& sizes) {
    std::vector<Cluster::Node> nodes;
    std::vector<Cluster::Rank> ranks;
    std::vector<int> members;
    for (std::size_t n = 0; n < sizes.size(); ++n) {
        nodes.push_back({"n" + std::to_string(n), {"10.0.0.1/8"}});
        for (int i = 0; i < sizes[n]; ++i) {
            members.push_back(static_cast<int>(ranks.size()));
            ranks.push_back({static_cast<int>(n), i, 1});
        }
    }
    Cluster const cluster(nodes, ranks, 0, JobKey{});
    return NodePartition(*Ref<Group>::adopt(new Group(members, 0)), cluster);
}

std::vector<std::vector<int>> const shapes[] = {
    {std::vector<int>(16, 128), std::vector<int>(256, 64), {1, 1}},
    {{4, 4}, {3, 1, 5}, {128, 2}, {1, 7, 7, 7, 1}, std::vector<int>(40, 3)}};

template <class F>
void each_shape(F f) {
    for (auto const& some : shapes)
        for (auto const& sizes : some) f(division(sizes));
}

TEST(RelayPlan, ANodesMemoryIsBoundedWhateverTheNumberOfRanks) {
    each_shape([](NodePartition const& map) {
        for (std::size_t bytes : {memory, memory / 16}) {
            RelayPlan const plan(map, bytes, 2, piece);
            for (int turn = 0; turn < plan.turns(); ++turn) {
                std::size_t rows = 0;   // of all ranks of the largest node; one piece of each is in flight
                plan.each_peer(turn, 0, [&](int) { rows += static_cast<std::size_t>(map.largest()); });
                EXPECT_LE(8 * rows * plan.piece(), bytes) << map.count() << " nodes of " << map.largest();
            }
        }
    });
}

TEST(RelayPlan, EveryPairOfNodesExchangesOnceInBothDirections) {
    each_shape([](NodePartition const& map) {
        for (std::size_t bytes : {memory, std::size_t{320}}) {
            RelayPlan const plan(map, bytes, 2, piece);
            std::map<std::pair<int, int>, int> turns;
            for (int turn = 0; turn < plan.turns(); ++turn)
                for (int node = 0; node < map.count(); ++node)
                    plan.each_peer(turn, node, [&](int peer) {
                        EXPECT_TRUE(turns.insert({{node, peer}, turn}).second);
                    });
            auto const nodes = static_cast<std::size_t>(map.count());
            EXPECT_EQ(turns.size(), nodes * (nodes - 1));
            for (auto const& [pair, turn] : turns) EXPECT_EQ(turns.at({pair.second, pair.first}), turn);
        }
    });
}

TEST(RelayPlan, EachLinkHasItsOwnCarriersAndEachSourceALink) {
    FramePool frames;
    each_shape([&](NodePartition const& map) {
        for (std::size_t wanted : {1, 2, 4, 9}) {
            RelayPlan const plan(map, memory, wanted, piece);
            for (int node = 0; node < std::min(map.count(), 20); ++node)
                for (int peer = 0; peer < std::min(map.count(), 20); ++peer) {
                    if (node == peer) continue;
                    std::set<int> carriers, sources;
                    ASSERT_EQ(plan.links(node, peer), plan.links(peer, node));
                    for (int l = 0; l < plan.links(node, peer); ++l) {
                        carriers.insert(plan.carrier(node, peer, l));
                        for (int source : plan.sources(frames, node, peer, l)) {
                            EXPECT_TRUE(sources.insert(source).second);
                            EXPECT_EQ(plan.link_of(source, peer), l);
                        }
                    }
                    EXPECT_EQ(static_cast<int>(carriers.size()), plan.links(node, peer));
                    EXPECT_EQ(static_cast<int>(sources.size()), map.size(node));
                }
        }
    });
}

TEST(RelayPlan, AllRanksOfANodeAreCarriersWithManyNodes) {
    NodePartition const map = division(std::vector<int>(256, 64));
    RelayPlan const plan(map, memory, 2, piece);
    std::map<int, int> links;
    for (int peer = 1; peer < map.count(); ++peer)
        for (int l = 0; l < plan.links(0, peer); ++l) ++links[plan.carrier(0, peer, l)];
    EXPECT_EQ(links.size(), 64u);
    for (auto const& [rank, number] : links) EXPECT_LE(number, 8) << "rank " << rank;
}

TEST(RelayPlan, RowsListTheLocalRanksOfTheirTargets) {
    each_shape([](NodePartition const& map) {
        RelayPlan const plan(map, memory, 2, piece);
        int const last = map.count() - 1;
        for (int source : map.members(0))
            for (int target : map.members(last)) {
                int const place = plan.part_position(source, target);
                EXPECT_EQ(plan.target(source, last, place), target);
                EXPECT_TRUE(!map.has_equal_sizes() || plan.part_position(target, source) == place) << target;
            }
    });
}

TEST(RelayRow, PiecesOfARowCoverItsParts) {
    FramePool frames;
    std::uint64_t const sizes[] = {0, 5, 0, 0, 7, 1, 0};
    for (std::size_t piece_bytes : {1, 2, 3, 13, 20}) {
        RelayRow const row(frames, std::span(sizes));
        ASSERT_EQ(row.bytes(), 13u);
        std::vector<std::size_t> come(std::size(sizes));
        for (std::size_t at = 0; at < row.bytes(); at += piece_bytes)
            row.each(at, std::min(at + piece_bytes, row.bytes()),
                     [&](std::size_t part, std::size_t from, std::size_t n) {
                         EXPECT_EQ(come[part], from);
                         come[part] += n;
                     });
        for (std::size_t i = 0; i < come.size(); ++i) EXPECT_EQ(come[i], sizes[i]);
    }
}

}   // namespace
}   // namespace tutti::coll
