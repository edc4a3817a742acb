// SPDX-License-Identifier: BSD-3-Clause
// The announcements of ranks, as text and combined into the cluster map.
#include "runtime/job/rank_announcement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <locale>

namespace tutti {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

RankAnnouncement one(std::string realm, std::vector<int> units = {0, 1}, std::uint16_t port = 0) {
    return {realm, "host-" + realm, std::move(units), port, {"10.0.0.1/24", "fd00::1/64"}, {}};
}

TEST(RankAnnouncement, RoundTrips) {
    RankAnnouncement const written = {"0/pid:[1]/user:[2]",
                                      "n1",
                                      {0, 3, 64},
                                      40001,
                                      {"10.0.0.1/24", "fd00::1/64"},
                                      {{77, 64, 4711}, 0x7f0000000000, 1 << 30},
                                      false,
                                      true};
    auto const read = RankAnnouncement::from_text(written.to_text());
    ASSERT_TRUE(read) << read.error();
    EXPECT_EQ(read->realm, written.realm);
    EXPECT_EQ(read->name, written.name);
    EXPECT_EQ(read->units, written.units);
    EXPECT_EQ(read->port, written.port);
    EXPECT_EQ(read->addresses, written.addresses);
    EXPECT_EQ(read->arena, written.arena);
    EXPECT_FALSE(read->cma);
    EXPECT_TRUE(read->xpmem);
}

struct Grouping : std::numpunct<char> {
    char do_thousands_sep() const override { return ' '; }
    std::string do_grouping() const override { return "\3"; }
};

TEST(RankAnnouncement, IsTheSameTextInEveryLocale) {
    RankAnnouncement const written = {
        "0/1/2", "n1", {64, 1000}, 40001, {"10.0.0.1/24"}, {{29340, 64, 4711000}, 1 << 30, 1 << 20}};
    std::string const text = written.to_text();
    std::locale const before = std::locale::global(std::locale(std::locale::classic(), new Grouping));
    std::string const grouped = written.to_text();
    auto const read = RankAnnouncement::from_text(text);
    std::locale::global(before);
    EXPECT_EQ(grouped, text);
    ASSERT_TRUE(read) << read.error();
    EXPECT_EQ(read->arena, written.arena);
}

TEST(RankAnnouncement, RoundTripsWithoutAddresses) {
    auto const read = RankAnnouncement::from_text(RankAnnouncement{"0/1/2", "n1", {5}, 0, {}, {}}.to_text());
    ASSERT_TRUE(read) << read.error();
    EXPECT_THAT(read->addresses, IsEmpty());
    EXPECT_THAT(read->units, ElementsAre(5));
}

TEST(RankAnnouncement, RefusesInvalidText) {
    for (char const* text :
         {"", "realm", "realm name", "realm name port 0", "realm name 70000 0", "realm name 1 0,x", "realm name 1 -1",
          "realm name 1 ,", "realm name 1", "realm name 1 0", "realm name 1 0 5 64 4711 0",
          "realm name 1 0 5 64 4711 x 0 1 1", "realm name 1 0 5 64 4711 0 0", "realm name 1 0 5 64 4711 0 0 1 yes"})
        EXPECT_FALSE(RankAnnouncement::from_text(text)) << text;
}

TEST(RankAnnouncement, NodesAreNumberedByTheirLowestRanks) {
    EXPECT_THAT(nodes_of({one("b"), one("a"), one("b"), one("c"), one("a")}), ElementsAre(0, 1, 0, 2, 1));
}

TEST(RankAnnouncement, RanksOfOneRealmFormOneNode) {
    Cluster const cluster = cluster_of({one("a"), one("a"), one("a")}, 0, {});
    EXPECT_TRUE(cluster.is_single_node());
    EXPECT_EQ(cluster.size(), 3);
}

TEST(RankAnnouncement, EachRankHasItsNodeLocalRankAndPort) {
    JobKey const key{std::byte{7}};
    Cluster const cluster =
        cluster_of({one("a", {0}, 1), one("b", {0}, 2), one("a", {1}, 3), one("b", {1}, 4)}, 1, key);
    ASSERT_EQ(cluster.nodes(), 2);
    EXPECT_EQ(cluster.this_node(), 1);
    EXPECT_EQ(cluster.key(), key);
    EXPECT_EQ(cluster.node(1).name, "host-b");
    EXPECT_THAT(cluster.node(0).addresses, ElementsAre("10.0.0.1/24", "fd00::1/64"));
    for (int rank = 0; rank < 4; ++rank) {
        EXPECT_EQ(cluster.node_of(rank), rank % 2);
        EXPECT_EQ(cluster.local_rank_of(rank), rank / 2);
        EXPECT_EQ(cluster.at(rank).port, rank + 1);
    }
}

topo::Placement placed(std::vector<RankAnnouncement> const& ranks) {
    return placement_of(ranks, topo::Machine::plain(units_of(ranks)));
}

TEST(RankAnnouncement, RanksThatMayRunAnywhereArePlacedInOrder) {
    topo::Placement const placement = placed({one("a", {2, 3}), one("a", {2, 3})});
    EXPECT_FALSE(placement.fixed);
    EXPECT_THAT(placement.pu, ElementsAre(0, 1));
}

TEST(RankAnnouncement, BoundRanksKeepTheirUnits) {
    std::vector<RankAnnouncement> const bound = {one("a", {9}), one("a", {4}), one("a", {4})};
    EXPECT_THAT(units_of(bound), ElementsAre(4, 9));
    EXPECT_TRUE(placed(bound).fixed);
    EXPECT_THAT(placed(bound).pu, ElementsAre(1, 0, 0));
    EXPECT_TRUE(placed({one("a", {4}), one("a", {4})}).fixed);
    EXPECT_FALSE(placed({one("a", {9, 10}), one("a", {4, 5})}).fixed);
}

TEST(RankAnnouncement, RanksBoundToACoreWithTwoThreadsKeepIt) {
    topo::Machine machine = topo::Machine::plain(std::vector{0, 1, 2, 3});
    machine.pus[1].core = 0;
    machine.pus[3].core = machine.pus[2].core;
    topo::Placement const placement = placement_of({one("a", {0, 1}), one("a", {2, 3})}, machine);
    EXPECT_TRUE(placement.fixed);
    EXPECT_THAT(placement.pu, ElementsAre(0, 2));
}

TEST(RankAnnouncement, ARealmDependsOnItsNodeItsMachineAndNamespaces) {
    EXPECT_EQ(realm_of(0), realm_of(0));
    EXPECT_NE(realm_of(0), realm_of(2));
    EXPECT_EQ(realm_of(0).find_first_of(" \n"), std::string::npos);
    std::string boot;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
    EXPECT_THAT(realm_of(0), testing::HasSubstr("0/" + boot + "/"));
}

TEST(RankAnnouncement, ANodeOfSeveralRealmsIsDivided) {
    auto const in = [](char const* realm, char const* name) {
        RankAnnouncement announcement = one(realm, {0});
        announcement.name = name;
        return announcement;
    };
    EXPECT_THAT(divided_nodes({in("0/a", "n1"), in("0/a", "n1"), in("2/a", "n2")}), testing::IsEmpty());
    EXPECT_THAT(divided_nodes({in("0/a", "n1"), in("2/a", "n2"), in("2/b", "n2"), in("2/c", "n2")}), ElementsAre("n2"));
}

}   // namespace
}   // namespace tutti
