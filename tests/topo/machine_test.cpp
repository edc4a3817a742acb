// SPDX-License-Identifier: BSD-3-Clause
// Tests Machine and Placement: counts, assumed placement, and the text form that the launcher sends to the ranks.
#include "topo/machine.hpp"

#include <gtest/gtest.h>

#include "tests/topo/machines.hpp"

namespace tutti::topo {
namespace {

Machine rich_machine() {
    Machine machine = make_machine({.sockets = 2, .numas = 2, .l3s = 2, .l2s = 2, .cores = 2, .threads = 2});
    machine.name = "socket:2\nnuma:2";   // must not break the text format
    machine.cpu = "A Processor (R) 3000";
    machine.caches = {.private_size = 2 << 20,
                      .last_level_size = std::size_t{260} << 20,
                      .last_level_count = 8,
                      .line_size = 128,
                      .inclusive = true};
    return machine;
}

TEST(Machine, CountsUnitsOfEachLevel) {
    const Machine machine = rich_machine();
    EXPECT_EQ(machine.count(Level::l2), 16);
    EXPECT_EQ(machine.count(Level::l3), 8);
    EXPECT_EQ(machine.count(Level::numa), 4);
    EXPECT_EQ(machine.count(Level::socket), 2);
    EXPECT_EQ(machine.count(Level::node), 1);
    EXPECT_EQ(machine.core_count(), 32);
    EXPECT_EQ(machine.pus.size(), 64u);
}

TEST(Machine, CountsNonadjacentUnits) {
    Machine machine = make_machine({.l2s = 4});
    for (Pu& pu : machine.pus) pu.numa = pu.os % 2;   // numbered crosswise
    EXPECT_EQ(machine.count(Level::numa), 2);
}

TEST(Machine, TextGivesTheSameMachineBack) {
    Machine machine = rich_machine();
    const auto again = Machine::from_text(machine.to_text());
    ASSERT_TRUE(again) << again.error();
    machine.name = "socket:2 numa:2";
    EXPECT_EQ(*again, machine);
    const auto plain = Machine::from_text(Machine::plain({}).to_text());
    ASSERT_TRUE(plain) << plain.error();
    EXPECT_EQ(plain->pus.size(), 1u);
}

TEST(Machine, EveryCutOfItsTextIsRefused) {
    const std::string text = make_machine({.sockets = 2, .l2s = 2}).to_text();
    for (std::size_t length = 0; length < text.size(); ++length) {
        const auto machine = Machine::from_text(text.substr(0, length));
        EXPECT_FALSE(machine) << "of " << text.size() << " bytes only " << length;
        EXPECT_FALSE(machine.error().empty());
    }
}

TEST(Machine, DamagedTextIsRefusedOrStillSane) {
    const std::string text = make_machine({.sockets = 2, .l2s = 2}).to_text();
    std::mt19937 random(7);
    for (int i = 0; i < 20000; ++i) {
        std::string bad = text;
        bad[random() % bad.size()] = static_cast<char>(random());
        const auto machine = Machine::from_text(bad);
        if (!machine) continue;
        EXPECT_EQ(machine->pus.size(), 4u);
        for (const Pu& pu : machine->pus) EXPECT_GE(std::min({pu.os, pu.core, pu.l2, pu.l3, pu.numa, pu.socket}), 0);
    }
}

TEST(Machine, OtherVersionsAndDoubleUnitsAreNamed) {
    std::string text = make_machine({.l2s = 2}).to_text();
    text.replace(text.find(" 1\n"), 3, " 2\n");
    EXPECT_NE(Machine::from_text(text).error().find("different versions"), std::string::npos);

    Machine twice = make_machine({.l2s = 2});
    twice.pus[1].os = twice.pus[0].os;
    EXPECT_NE(Machine::from_text(twice.to_text()).error().find("damaged"), std::string::npos);
}

TEST(Placement, TextGivesTheSamePlacementBack) {
    const Machine machine = make_machine({.l2s = 4});
    for (const Placement& placement : {Placement{.pu = {3, 1, 1, 0}, .fixed = true}, Placement{}}) {
        const auto again = Placement::from_text(placement.to_text(), machine);
        ASSERT_TRUE(again) << again.error();
        EXPECT_EQ(*again, placement);
    }
}

TEST(Placement, UnitsOutsideOfTheMachineAreRefused) {
    const Placement placement{.pu = {3, 1}, .fixed = true};
    const std::string text = placement.to_text();
    EXPECT_FALSE(Placement::from_text(text, make_machine({.l2s = 3})));
    EXPECT_TRUE(Placement::from_text(text, make_machine({.l2s = 4})));
    for (std::size_t length = 0; length < text.size(); ++length) {
        EXPECT_FALSE(Placement::from_text(text.substr(0, length), make_machine({.l2s = 4})));
    }
}

TEST(NodeMap, BothAreInOneText) {
    NodeMap map{.machine = make_machine({.sockets = 2, .l2s = 2}), .placement = {.pu = {3, 0}, .fixed = true}};
    map.machine.name = "tutti-placement 1";
    const auto again = NodeMap::from_text(map.to_text());
    ASSERT_TRUE(again) << again.error();
    EXPECT_EQ(again->machine, map.machine);
    EXPECT_EQ(again->placement, map.placement);
    EXPECT_FALSE(NodeMap::from_text(map.machine.to_text()));
    EXPECT_FALSE(NodeMap::from_text(map.placement.to_text()));
    EXPECT_FALSE(NodeMap::from_text(""));
}

TEST(Placement, UnboundRanksAreAssumedInOrder) {
    Machine machine = make_machine({.l2s = 4, .threads = 2});
    machine.simulated = false;
    EXPECT_EQ(place_in_order(machine, 3).pu, (std::vector{0, 2, 4}));
    EXPECT_EQ(place_in_order(machine, 4).pu, (std::vector{0, 2, 4, 6}));
    EXPECT_EQ(place_in_order(machine, 8).pu, (std::vector{0, 1, 2, 3, 4, 5, 6, 7}));
    EXPECT_EQ(place_in_order(machine, 16).pu, (std::vector{0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7}));
    EXPECT_FALSE(place_in_order(machine, 3).fixed);
    machine.simulated = true;
    EXPECT_TRUE(place_in_order(machine, 3).fixed);
}

TEST(Caches, UnknownSizesAreAssumedAndKnownOnesStay) {
    const Caches none = Caches{}.without_unknowns();
    EXPECT_EQ(none.private_size, Caches::assumed_private_size);
    EXPECT_EQ(none.last_level_size, Caches::assumed_last_level_size);
    const Caches small{.last_level_size = 1 << 18};
    EXPECT_EQ(small.without_unknowns().last_level_size, 1u << 18);
    EXPECT_EQ(small.without_unknowns().private_size, 1u << 18) << "no larger than the last level";
    const Caches known{.private_size = 1 << 15, .last_level_size = 1 << 25, .last_level_count = 4, .inclusive = true};
    EXPECT_EQ(known.without_unknowns(), known);
}

TEST(Machine, CachesThatOnlySomeUnitsHaveAreReplacedForAll) {
    Machine machine;
    machine.pus = {{.os = 0, .core = 0, .l2 = 5, .l3 = 3, .socket = 0},
                   {.os = 1, .core = 1, .l2 = 6, .l3 = -1, .socket = 1}};
    machine.complete_caches();
    EXPECT_EQ(machine.pus[0].l3, 0);
    EXPECT_EQ(machine.pus[1].l3, 1);
    EXPECT_EQ(machine.pus[0].l2, 5);
}

}   // namespace
}   // namespace tutti::topo
