// SPDX-License-Identifier: BSD-3-Clause
// The drawing contains the facts that a student needs, and stays short on a large machine.
#include "topo/draw.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/topo/machines.hpp"

namespace tutti::topo {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string drawing(const Machine& machine, const Placement& placement, bool utf8 = true) {
    const auto ranks = first_ranks(static_cast<int>(placement.pu.size()));
    return draw(machine, placement, make_hierarchy(machine, placement, ranks, {}), {.utf8 = utf8});
}

TEST(Draw, NamesRanksOfANodeByTheirWorldRanks) {
    const Machine machine = design_machine();
    const Placement placement = place_in_order(machine, 4);
    const auto ranks = first_ranks(4);
    const std::string text =
        draw(machine, placement, make_hierarchy(machine, placement, ranks, {}), {.rank_numbers = {10, 12, 14, 16}});
    EXPECT_THAT(text, HasSubstr("*10 12 14 16"));
    EXPECT_THAT(text, HasSubstr("ranks 10"));
    EXPECT_THAT(text, Not(HasSubstr("*0")));
}

TEST(Draw, TheDesignsExampleFitsOnAScreen) {
    const std::string text = drawing(design_machine(), place_in_order(design_machine(), 64));
    EXPECT_THAT(text, HasSubstr("2 sockets, 8 NUMA nodes, 64 cores\n64 ranks"));
    EXPECT_THAT(text, HasSubstr("├─ socket 0\n│  ├─ NUMA node 0   cores 0-7     ranks 0*** 1-7\n"));
    EXPECT_THAT(text, HasSubstr("│  └─ NUMA node 3   cores 24-31   ranks 24* 25-31\n└─ socket 1\n"));
    EXPECT_THAT(text, HasSubstr("   └─ NUMA node 7   cores 56-63   ranks 56* 57-63\n"));
    EXPECT_THAT(text, HasSubstr("  numa    8 teams: *0 1-7 | *8 9-15 | "));
    EXPECT_THAT(text, HasSubstr("| and 2 more\n"));
    EXPECT_THAT(text, HasSubstr("  socket  2 teams: *0 8 16 24 | *32 40 48 56\n  node    1 team:  *0 32\n"));
    EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 24);
}

TEST(Draw, ReportsBindingOfRanks) {
    const Machine machine = [] {
        Machine real = design_machine();
        real.simulated = false;
        return real;
    }();
    Placement placement = place_in_order(machine, 2);
    const auto hierarchy = make_hierarchy(machine, placement, first_ranks(2), {});
    EXPECT_THAT(draw(machine, placement, hierarchy, {}),
                HasSubstr("2 ranks, not bound; the positions shown are assumed\n"));
    EXPECT_THAT(draw(machine, placement, hierarchy, {.bound_widely = true}),
                HasSubstr("2 ranks, bound to more units than shown; the positions are assumed\n"));
    placement.fixed = true;
    EXPECT_THAT(draw(machine, placement, hierarchy, {}), HasSubstr("2 ranks, bound as shown\n"));
}

TEST(Draw, RoundRobinIsShort) {
    std::vector<int> mapping;
    for (int rank = 0; rank < 64; ++rank) mapping.push_back(rank % 8 * 8 + rank / 8);
    EXPECT_THAT(drawing(design_machine(), {.pu = mapping, .fixed = true}), HasSubstr("ranks 1* 9 17 .. 57"));
}

TEST(Draw, AsciiHasNoOtherBytes) {
    const std::string text = drawing(design_machine(), place_in_order(design_machine(), 64), false);
    EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
    EXPECT_THAT(text, HasSubstr("|- socket 0\n|  |- NUMA node 0 "));
    EXPECT_THAT(text, HasSubstr("`- socket 1\n   |- NUMA node 4 "));
}

TEST(Draw, ALaptop) {
    Machine machine = make_machine({.l2s = 2});
    machine.name = "this machine";
    machine.cpu = "A Processor";
    machine.simulated = false;
    const std::string text = drawing(machine, place_in_order(machine, 8));
    EXPECT_THAT(text, HasSubstr("this machine (A Processor): 1 socket, 1 NUMA node, 2 cores\n8 ranks, not bound"));
    EXPECT_THAT(text, HasSubstr("node\n├─ core 0   ranks 0* 1-3\n└─ core 1   ranks 4-7\n"));
    EXPECT_THAT(text, Not(HasSubstr("NUMA node 0")));
}

TEST(Draw, OneCore) {
    EXPECT_THAT(drawing(make_machine({}), {.pu = {0}, .fixed = true}), HasSubstr("node   core 0   rank 0*\n"));
}

TEST(Draw, DrawsIdleCoresAndBoundRanks) {
    Machine machine = make_machine({.l2s = 3, .threads = 2});
    machine.simulated = false;
    const std::string text = drawing(machine, {.pu = {0, 1, 5}, .fixed = true});
    EXPECT_THAT(text, HasSubstr("3 cores, 6 hardware threads\n3 ranks, bound as shown"));
    EXPECT_THAT(text, HasSubstr("core 0   ranks 0* 1\n├─ core 1   no rank\n└─ core 2   rank 2\n"));
}

TEST(Draw, ManyRanksInDisorderAreCut) {
    const Machine machine = make_machine({.l2s = 256});
    std::vector<Grouping> odd = {{"half", {}}};
    for (int rank = 0; rank < 256; ++rank) odd[0].group.push_back(rank * rank % 7 % 2);
    const Placement placement = place_in_order(machine, 256);
    const std::string text = draw(machine, placement, Hierarchy::build(256, odd), {});
    EXPECT_THAT(text, HasSubstr("in total)"));
    EXPECT_LT(text.size(), 1500u);
}

TEST(Locale, DecidesTheCharacters) {
    const auto with = [](const char* all, const char* lang) {
        all ? setenv("LC_ALL", all, 1) : unsetenv("LC_ALL");
        lang ? setenv("LANG", lang, 1) : unsetenv("LANG");
        unsetenv("LC_CTYPE");
        return locale_is_utf8();
    };
    EXPECT_TRUE(with(nullptr, "en_GB.UTF-8"));
    EXPECT_TRUE(with("C.utf8", "C"));
    EXPECT_FALSE(with("C", "en_GB.UTF-8"));
    EXPECT_TRUE(with("", "en_GB.UTF-8"));
    EXPECT_FALSE(with(nullptr, nullptr));
}

}   // namespace
}   // namespace tutti::topo
