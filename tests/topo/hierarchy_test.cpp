// SPDX-License-Identifier: BSD-3-Clause
// Tests the tree of teams: its levels, its leaders, and the links that a broadcast over it crosses.
#include "topo/hierarchy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/topo/machines.hpp"

namespace tutti::topo {
namespace {

using testing::HasSubstr;

// Rank i of n runs on unit mapping[i].
Placement on(std::vector<int> mapping) { return {.pu = std::move(mapping), .fixed = true}; }

std::vector<int> round_robin(int ranks, int over) {
    std::vector<int> mapping;
    for (int rank = 0; rank < ranks; ++rank) mapping.push_back(rank % over * (ranks / over) + rank / over);
    return mapping;
}

Hierarchy automatic(const Machine& machine, const Placement& placement) {
    return make_hierarchy(machine, placement, first_ranks(static_cast<int>(placement.pu.size())), {});
}

// Counts the messages of a broadcast in which each leader sends to each other member of its team, by the links they
// cross.
struct Crossings {
    int sockets = 0, numas = 0, inside = 0;
    bool operator==(const Crossings&) const = default;
};

Crossings broadcast(const Machine& machine, const Placement& placement, const Hierarchy& tree, int root) {
    Crossings localities;
    std::vector<bool> has_data(static_cast<std::size_t>(tree.size()));
    has_data[static_cast<std::size_t>(root)] = true;
    for (int level = tree.levels() - 1; level >= 0; --level) {
        for (int rank = 0; rank < tree.size(); ++rank) {
            const Team team = tree.team(level, rank, root);
            if (!team.is_participant || team.is_leader) continue;
            EXPECT_TRUE(has_data[static_cast<std::size_t>(team.leader)]) << "rank " << team.leader << " has none yet";
            EXPECT_FALSE(has_data[static_cast<std::size_t>(rank)]) << "rank " << rank << " gets it twice";
            has_data[static_cast<std::size_t>(rank)] = true;
            const Pu& from = machine.pus[static_cast<std::size_t>(placement.pu[static_cast<std::size_t>(team.leader)])];
            const Pu& to = machine.pus[static_cast<std::size_t>(placement.pu[static_cast<std::size_t>(rank)])];
            if (from.socket != to.socket) ++localities.sockets;
            else ++(from.numa != to.numa ? localities.numas : localities.inside);
        }
    }
    EXPECT_EQ(std::count(has_data.begin(), has_data.end(), true), tree.size());
    return localities;
}

TEST(Hierarchy, BroadcastCrossesAsLittleAsPossibleForEveryRootAndMapping) {
    const Machine machine = design_machine();
    std::vector<std::vector<int>> mappings = {first_ranks(64), round_robin(64, 2), round_robin(64, 8)};
    for (unsigned seed = 1; seed <= 20; ++seed) mappings.push_back(shuffled(first_ranks(64), seed));
    for (const std::vector<int>& mapping : mappings) {
        const Placement placement = on(mapping);
        const Hierarchy tree = automatic(machine, placement);
        EXPECT_EQ(tree.describe(), "numa+socket+node");
        for (int root = 0; root < 64; ++root) {
            const Crossings expected{.sockets = 1, .numas = 6, .inside = 56};
            EXPECT_EQ(broadcast(machine, placement, tree, root), expected) << "root " << root;
        }
    }
}

TEST(Hierarchy, LeadersAreTheLowestRanks) {
    const Hierarchy tree = automatic(design_machine(), on(first_ranks(64)));
    const Team numa = tree.team(0, 13);
    EXPECT_EQ(list_of(numa.members), (std::vector{8, 9, 10, 11, 12, 13, 14, 15}));
    EXPECT_EQ(numa.leader, 8);
    EXPECT_EQ(numa.my_index, 5);
    EXPECT_TRUE(numa.is_participant);
    EXPECT_FALSE(numa.is_leader);
    const Team socket = tree.team(1, 13);
    EXPECT_EQ(list_of(socket.members), (std::vector{0, 8, 16, 24}));
    EXPECT_EQ(socket.my_index, 1) << "rank 8 stands there for rank 13";
    EXPECT_FALSE(socket.is_participant);
    EXPECT_TRUE(tree.team(1, 40).is_participant);
    EXPECT_EQ(list_of(tree.team(2, 63).members), (std::vector{0, 32}));
    EXPECT_EQ(tree.levels_of(0), 3);
    EXPECT_EQ(tree.levels_of(32), 3);
    EXPECT_EQ(tree.levels_of(8), 2);
    EXPECT_EQ(tree.levels_of(9), 1);
}

TEST(Hierarchy, TheRootLeadsEveryTeamThatItIsIn) {
    const Hierarchy tree = automatic(design_machine(), on(first_ranks(64)));
    const int root = 45;
    EXPECT_EQ(tree.levels_of(root, root), 3);
    EXPECT_EQ(tree.levels_of(32, root), 2) << "still leads its NUMA node, no longer its socket";
    EXPECT_EQ(tree.levels_of(40, root), 1) << "its team is led by the root";
    EXPECT_EQ(list_of(tree.team(0, 41, root).members), (std::vector{40, 41, 42, 43, 44, 45, 46, 47}));
    EXPECT_EQ(tree.team(0, 41, root).leader, root);
    EXPECT_EQ(tree.team(0, 41, root).leader_index, 5);
    EXPECT_EQ(list_of(tree.team(1, 41, root).members), (std::vector{32, 45, 48, 56}));
    EXPECT_EQ(tree.team(1, 33, root).leader, root);
    EXPECT_EQ(tree.team(1, 33, root).leader_index, 1);
    EXPECT_EQ(list_of(tree.team(2, 3, root).members), (std::vector{0, 45}));
    EXPECT_EQ(tree.team(1, 3, root).leader, 0) << "teams without the root keep their leader";
    for (int level = 0; level < 3; ++level) {
        EXPECT_EQ(tree.team(level, 50).id, tree.team(level, 50, root).id) << "does not depend on the root";
    }
}

TEST(Hierarchy, TeamsOfALevelPartitionAllRanks) {
    const Machine machine = make_machine({.sockets = 2, .numas = 2, .l3s = 2, .l2s = 3, .cores = 2});
    const Placement placement = on(shuffled(first_ranks(48), 5));
    const Hierarchy tree = automatic(machine, placement);
    ASSERT_EQ(tree.describe(), "l2+l3+numa+socket+node");
    EXPECT_EQ(tree.team_count(), 24 + 8 + 4 + 2 + 1);
    std::set<int> ids;
    for (int level = 0; level < tree.levels(); ++level) {
        std::set<int> here;
        for (int rank = 0; rank < 48; ++rank) {
            const Team team = tree.team(level, rank);
            here.insert(team.id);
            const std::vector<int> under = list_of(tree.ranks_under(level, rank));
            EXPECT_TRUE(std::is_sorted(under.begin(), under.end()));
            EXPECT_TRUE(std::binary_search(under.begin(), under.end(), rank));
            EXPECT_EQ(under.size(), 48u / static_cast<std::size_t>(tree.team_count(level)));
            EXPECT_EQ(under[0], team.leader) << "the leader is the lowest rank of all below it";
        }
        EXPECT_EQ(static_cast<int>(here.size()), tree.team_count(level));
        ids.insert(here.begin(), here.end());
    }
    EXPECT_EQ(static_cast<int>(ids.size()), tree.team_count());
    EXPECT_EQ(*ids.rbegin(), tree.team_count() - 1);
}

TEST(Hierarchy, LevelsThatDoNotSplitAreDropped) {
    EXPECT_EQ(automatic(make_machine({.l2s = 8}), on(first_ranks(8))).describe(), "node");
    EXPECT_EQ(automatic(make_machine({.numas = 2, .l2s = 4}), on(first_ranks(8))).describe(), "numa+node");
    EXPECT_EQ(automatic(make_machine({.sockets = 2, .l2s = 4}), on(first_ranks(8))).describe(), "socket+node")
        << "a socket that is one NUMA node and one L3 is a socket";
    EXPECT_EQ(automatic(design_machine(), on({0, 8, 16, 24, 32})).describe(), "socket+node")
        << "one rank per NUMA node: the NUMA level groups no ranks";
    EXPECT_EQ(automatic(design_machine(), on({5})).describe(), "node");
    EXPECT_EQ(automatic(design_machine(), on({0, 32})).describe(), "node");
    EXPECT_EQ(automatic(design_machine(), on({})).levels(), 0);
}

TEST(Hierarchy, NumaNodesInsideACacheAreTheInnerLevel) {
    Machine machine = make_machine({.sockets = 2, .numas = 4, .l2s = 2});
    for (Pu& pu : machine.pus) pu.l3 = pu.numa / 2;
    EXPECT_EQ(automatic(machine, on(first_ranks(16))).describe(), "numa+l3+socket+node");
}

TEST(Hierarchy, UnboundRanksGetNoCacheLevels) {
    const Machine machine = make_machine({.sockets = 2, .l3s = 2, .l2s = 2, .cores = 2});
    Placement placement = on(first_ranks(16));
    EXPECT_EQ(automatic(machine, placement).describe(), "l2+l3+socket+node");
    placement.fixed = false;
    EXPECT_EQ(automatic(machine, placement).describe(), "socket+node");
    const auto named = make_hierarchy(machine, placement, first_ranks(16), *parse_hierarchy("l3"));
    EXPECT_EQ(named.describe(), "l3+node") << "an explicit hierarchy is followed";
}

TEST(Hierarchy, AnySubsetInAnyOrderHasItsOwnTree) {
    const Machine machine = design_machine();
    const Placement placement = on(first_ranks(64));
    const std::vector<int> subset = {63, 0, 33, 1, 62, 32};   // communicator's rank → node's rank
    const Hierarchy tree = make_hierarchy(machine, placement, subset, {});
    EXPECT_EQ(tree.describe(), "numa+socket+node");
    EXPECT_EQ(list_of(tree.team(0, 4).members), (std::vector{0, 4}));
    EXPECT_EQ(list_of(tree.team(0, 3).members), (std::vector{1, 3}));
    EXPECT_EQ(list_of(tree.team(1, 0).members), (std::vector{0, 2}));
    EXPECT_EQ(list_of(tree.team(2, 5).members), (std::vector{0, 1}));
    for (unsigned seed = 1; seed <= 50; ++seed) {
        std::vector<int> some = shuffled(first_ranks(64), seed);
        some.resize(1 + seed);
        Placement places;
        for (const int node_rank : some) places.pu.push_back(node_rank);
        const Hierarchy random = make_hierarchy(machine, placement, some, {});
        for (int root = 0; root < random.size(); ++root) {
            const Crossings localities = broadcast(machine, places, random, root);
            EXPECT_LE(localities.sockets, 1);
            EXPECT_LE(localities.numas, 6);
        }
    }
}

TEST(Hierarchy, IsConsecutiveOnlyIfEveryTeamIs) {
    EXPECT_TRUE(automatic(design_machine(), on(first_ranks(64))).consecutive());
    EXPECT_FALSE(automatic(design_machine(), on(round_robin(64, 8))).consecutive());
    EXPECT_TRUE(automatic(make_machine({.l2s = 4}), on({3, 0, 2, 1})).consecutive());
}

TEST(Hierarchy, SeveralNodesAddOneLevel) {
    // With two nodes, the cluster is the last level; the other levels are the same.
    const std::vector<Grouping> levels = {{"numa", {0, 0, 1, 1, 2, 2, 3, 3}}, {"node", {0, 0, 0, 0, 1, 1, 1, 1}}};
    const Hierarchy tree = Hierarchy::build(8, levels, "cluster");
    EXPECT_EQ(tree.describe(), "numa+node+cluster");
    EXPECT_EQ(list_of(tree.team(2, 7, 6).members), (std::vector{0, 6}));
}

TEST(Hierarchy, OverlappingGroupsStillMakeATree) {
    const std::vector<Grouping> levels = {{"a", {0, 1, 0, 1, 2, 2}}, {"b", {0, 0, 1, 1, 1, 1}}};
    const Hierarchy tree = Hierarchy::build(6, levels, "all");
    EXPECT_EQ(list_of(tree.team(1, 2).members), (std::vector{0, 1})) << "rank 2 is in its leader's team";
    EXPECT_EQ(list_of(tree.ranks_under(1, 2)), (std::vector{0, 1, 2, 3}));
}

TEST(HierarchyWords, AllFormsAreAccepted) {
    EXPECT_EQ(to_string(*parse_hierarchy("auto")), "auto");
    EXPECT_EQ(to_string(*parse_hierarchy("")), "auto");
    EXPECT_EQ(to_string(*parse_hierarchy(" Flat ")), "flat");
    EXPECT_EQ(to_string(*parse_hierarchy("node")), "node");
    EXPECT_EQ(to_string(*parse_hierarchy("numa+socket")), "numa+socket");
    EXPECT_EQ(to_string(*parse_hierarchy("socket, NUMA,numa")), "numa+socket");
    EXPECT_EQ(to_string(*parse_hierarchy("l2+l3+numa+package+node")), "l2+l3+numa+socket");
    const Placement all = on(first_ranks(64));
    const auto flat = make_hierarchy(design_machine(), all, first_ranks(64), *parse_hierarchy("flat"));
    EXPECT_EQ(flat.describe(), "node");
    const auto socket = make_hierarchy(design_machine(), all, first_ranks(64), *parse_hierarchy("socket"));
    EXPECT_EQ(socket.describe(), "socket+node");
}

TEST(HierarchyWords, ErrorsNameTheValidWords) {
    for (const char* wrong : {"nmua", "numa+", "+", "numa++socket", "numa socket", "l1", "numa+socke"}) {
        const std::string error = parse_hierarchy(wrong).error();
        EXPECT_THAT(error, HasSubstr("auto, flat, or some of l2, l3, numa, socket, node")) << wrong;
    }
    EXPECT_THAT(parse_hierarchy("nmua+socket").error(), HasSubstr("\"nmua\""));
    EXPECT_THAT(parse_hierarchy("flat+numa").error(), HasSubstr("cannot be combined"));
}

}   // namespace
}   // namespace tutti::topo
