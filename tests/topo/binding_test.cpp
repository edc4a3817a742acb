// SPDX-License-Identifier: BSD-3-Clause
// Tests --bind-to and --map-by: the keywords of MPICH and Open MPI, and the placement of ranks.
#include "topo/binding.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/topo/machines.hpp"

namespace tutti::topo {
namespace {

using testing::HasSubstr;
using Sets = std::vector<std::vector<int>>;

// 2 sockets of 2 NUMA nodes of 2 cores of 2 threads. Binding treats the machine as a real one.
Machine small_machine() {
    Machine machine = make_machine({.sockets = 2, .numas = 2, .l2s = 2, .threads = 2});
    machine.simulated = false;
    return machine;
}

// Parses the options as the launcher does: an option that is not given is not parsed.
Plan plan(int ranks, const char* bind_text, const char* map_text, const Machine& machine = small_machine()) {
    const auto bind = bind_text ? parse_bind_to(bind_text) : Result<BindTo>(BindTo{});
    const auto map = map_text ? parse_map_by(map_text) : Result<MapBy>(MapBy{});
    EXPECT_TRUE(bind) << bind.error();
    EXPECT_TRUE(map) << map.error();
    const auto result = plan_ranks(machine, ranks, *map, *bind, 1000);
    EXPECT_TRUE(result) << result.error();
    return *result;
}

std::string failure(int ranks, const char* bind_text, const char* map_text) {
    return plan_ranks(small_machine(), ranks, *parse_map_by(map_text), *parse_bind_to(bind_text), 1000).error();
}

TEST(BindWords, BothFamilies) {
    EXPECT_EQ(parse_bind_to("core")->unit, Unit::core);
    EXPECT_EQ(parse_bind_to("core:2")->count, 2);
    EXPECT_EQ(parse_bind_to("SOCKET")->unit, Unit::socket);
    EXPECT_EQ(parse_bind_to("package")->unit, Unit::socket);
    EXPECT_EQ(parse_bind_to("l3cache")->unit, Unit::l3);
    EXPECT_EQ(parse_bind_to("l2")->unit, Unit::l2);
    EXPECT_EQ(parse_bind_to("rr")->unit, Unit::hwthread);
    EXPECT_EQ(parse_bind_to("none")->kind, BindTo::Kind::none);
    EXPECT_EQ(parse_bind_to("auto")->kind, BindTo::Kind::automatic);
    EXPECT_EQ(parse_bind_to("l2ucache")->unit, Unit::l2);
    EXPECT_EQ(parse_bind_to("user:0+2,1,4+5")->user, (Sets{{0, 2}, {1}, {4, 5}}));
}

TEST(BindWords, ErrorsNameTheValidWords) {
    EXPECT_THAT(parse_bind_to("cores").error(), HasSubstr("\"cores\" is unknown; valid values: auto, none, hwthread"));
    EXPECT_THAT(parse_bind_to("").error(), HasSubstr("valid values: "));
    EXPECT_THAT(parse_bind_to("slot").error(), HasSubstr("valid values: "));
    EXPECT_THAT(parse_bind_to("core:0").error(), HasSubstr("\"0\" in --bind-to must be a number, 1 or more"));
    EXPECT_THAT(parse_bind_to("core:two").error(), HasSubstr("\"two\""));
    EXPECT_THAT(parse_bind_to("core:").error(), HasSubstr("must be a number"));
    EXPECT_THAT(parse_bind_to("core:99999999999").error(), HasSubstr("must be a number"));
    EXPECT_THAT(parse_bind_to("user:0+x").error(), HasSubstr("\"x\" is not a processing unit's number"));
}

TEST(MapWords, BothFamilies) {
    EXPECT_EQ(parse_map_by("socket")->unit, Unit::socket);
    EXPECT_EQ(parse_map_by("numa:2")->count, 2);
    EXPECT_EQ(parse_map_by("ppr:2:socket")->per_unit, 2);
    EXPECT_EQ(parse_map_by("ppr:2:socket:PE=3")->cores, 3);
    EXPECT_EQ(parse_map_by("socket:PE=2")->cores, 2);
    EXPECT_EQ(parse_map_by("slot:pe=2")->cores, 2);
    EXPECT_EQ(parse_map_by("node")->unit, Unit::node);
}

TEST(MapWords, ErrorsNameTheValidWords) {
    EXPECT_THAT(parse_map_by("sockets").error(), HasSubstr("\"sockets\" is unknown; valid values: slot, hwthread"));
    EXPECT_THAT(parse_map_by("ppr:2").error(), HasSubstr("ppr:2:socket"));
    EXPECT_THAT(parse_map_by("ppr:0:socket").error(), HasSubstr("ppr:2:socket"));
    EXPECT_THAT(parse_map_by("ppr:2:chair").error(), HasSubstr("\"chair\" is unknown"));
    EXPECT_THAT(parse_map_by("socket:pe=0").error(), HasSubstr("must be a number"));
}

TEST(Plan, WithoutOptionsRanksAreNotBound) {
    const Plan p = plan(3, nullptr, nullptr);
    EXPECT_EQ(p.cpus, (Sets{{}, {}, {}}));
    EXPECT_EQ(p.placement, place_in_order(small_machine(), 3));
    EXPECT_FALSE(p.placement.fixed);
}

TEST(Plan, AutomaticBindsOnlyRanksThatFitOnExclusiveCores) {
    const Machine machine = small_machine();
    const auto cpus = [&](int ranks, int usable, bool ours) {
        return plan_ranks(machine, ranks, {}, {}, usable, ours)->cpus;
    };
    EXPECT_EQ(cpus(2, 8, true), (Sets{{0, 1}, {2, 3}}));
    EXPECT_EQ(cpus(2, 8, false), (Sets{{}, {}})) << "another job may be on them";
    EXPECT_EQ(cpus(2, 1, true), (Sets{{}, {}})) << "the cgroup's quota allows one";
    EXPECT_EQ(cpus(9, 16, true), Sets(9)) << "more ranks than cores";
}

TEST(Plan, AutomaticKeepsAFullMachineInItsNumaNodes) {
    Machine machine = design_machine();   // 2 sockets of 4 NUMA nodes of 8 cores
    machine.simulated = false;
    const auto full = plan_ranks(machine, 64, {}, {}, 64);
    for (int rank = 0; rank < 64; ++rank) {
        const std::vector<int>& cpus = full->cpus[static_cast<std::size_t>(rank)];
        EXPECT_EQ(cpus.size(), 8u);
        EXPECT_EQ(cpus.front(), rank / 8 * 8) << "neighbours stay side by side";
    }
    EXPECT_EQ(full->placement.pu, place_in_order(machine, 64).pu);
    EXPECT_EQ(full->note, "");
    EXPECT_EQ(plan_ranks(machine, 64, {}, {}, 64, true)->cpus[9], (std::vector{9})) << "cores are ours";
    EXPECT_EQ(plan_ranks(machine, 64, {}, *parse_bind_to("none"), 64)->cpus, Sets(64)) << "the option is followed";

    // Two smaller jobs on one machine must not be bound to the same cores.
    for (const int ranks : {1, 8, 32, 63, 65, 128})
        EXPECT_EQ(plan_ranks(machine, ranks, {}, {}, 128)->cpus, Sets(ranks));
    EXPECT_EQ(plan_ranks(machine, 64, {}, {}, 63)->cpus, Sets(64)) << "the cgroup's quota allows less";
    EXPECT_EQ(plan_ranks(design_machine(), 64, {}, {}, 64)->cpus, Sets(64)) << "a pretended machine";
    Machine one = make_machine({.sockets = 1, .numas = 1, .l2s = 8});
    one.simulated = false;
    EXPECT_EQ(plan_ranks(one, 8, {}, {}, 8)->cpus, Sets(8)) << "one NUMA node";
    EXPECT_EQ(plan_ranks(small_machine(), 16, {}, {}, 16)->cpus[5], (std::vector{4, 5, 6, 7})) << "hardware threads";
}

TEST(Plan, CoresInOrder) {
    const Plan p = plan(3, "core", nullptr);
    EXPECT_EQ(p.cpus, (Sets{{0, 1}, {2, 3}, {4, 5}}));
    EXPECT_EQ(p.placement.pu, (std::vector{0, 2, 4}));
    EXPECT_TRUE(p.placement.fixed);
    EXPECT_EQ(p.note, "");
    EXPECT_EQ(plan(2, "core:2", nullptr).cpus, (Sets{{0, 1, 2, 3}, {4, 5, 6, 7}}));
    EXPECT_EQ(plan(2, "core:2", "core").cpus, (Sets{{0, 1, 2, 3}, {4, 5, 6, 7}}));
    EXPECT_EQ(plan(3, "hwthread", nullptr).cpus, (Sets{{0}, {1}, {2}}));
    EXPECT_EQ(plan(2, "core", "hwthread").cpus, (Sets{{0, 1}, {0, 1}}));
}

TEST(Plan, RoundRobin) {
    EXPECT_EQ(plan(4, "core", "socket").placement.pu, (std::vector{0, 8, 2, 10}));
    EXPECT_EQ(plan(5, "core", "numa").placement.pu, (std::vector{0, 4, 8, 12, 2}));
    EXPECT_EQ(plan(4, "core", "numa:2").placement.pu, (std::vector{0, 8, 4, 12})) << "every second, then the others";
    EXPECT_EQ(plan(3, "none", "socket").placement.pu, (std::vector{0, 8, 2}));
    EXPECT_EQ(plan(4, "core", "slot").placement.pu, (std::vector{0, 2, 4, 6}));
    EXPECT_EQ(plan(4, "core", "node").placement.pu, (std::vector{0, 2, 4, 6}));
}

TEST(Plan, WideUnits) {
    const Plan p = plan(3, "socket", nullptr);
    EXPECT_EQ(p.cpus[0], (std::vector{0, 1, 2, 3, 4, 5, 6, 7}));
    EXPECT_EQ(p.cpus[1], (std::vector{8, 9, 10, 11, 12, 13, 14, 15})) << "the default mapping follows the binding";
    EXPECT_EQ(p.cpus[2], p.cpus[0]);
    EXPECT_EQ(plan(2, "numa:2", nullptr).cpus[1], (std::vector{8, 9, 10, 11, 12, 13, 14, 15}));
    EXPECT_EQ(plan(2, "numa", "slot").cpus[1], (std::vector{0, 1, 2, 3}));
    EXPECT_EQ(plan(1, "node", nullptr).cpus[0].size(), 16u);
    EXPECT_FALSE(plan(1, "node", nullptr).placement.fixed) << "may leave its last level cache";
}

TEST(Plan, RanksPerUnit) {
    EXPECT_EQ(plan(4, "core", "ppr:2:socket").placement.pu, (std::vector{0, 2, 8, 10}));
    EXPECT_EQ(plan(4, "core", "ppr:1:numa").placement.pu, (std::vector{0, 4, 8, 12}));
    EXPECT_THAT(failure(5, "core", "ppr:2:socket"), HasSubstr("room for 4 ranks on this machine, but the job has 5"));
    EXPECT_EQ(plan(2, nullptr, "ppr:1:socket:PE=2").cpus, (Sets{{0, 1, 2, 3}, {8, 9, 10, 11}}));
}

TEST(Plan, SeveralCoresEach) {
    EXPECT_EQ(plan(3, nullptr, "socket:PE=2").cpus, (Sets{{0, 1, 2, 3}, {8, 9, 10, 11}, {4, 5, 6, 7}}));
    EXPECT_EQ(plan(2, nullptr, "slot:PE=3").cpus, (Sets{{0, 1, 2, 3, 4, 5}, {6, 7, 8, 9, 10, 11}}));
    EXPECT_EQ(plan(2, "none", "socket:PE=2").cpus, (Sets{{}, {}}));
    EXPECT_THAT(failure(2, "auto", "numa:PE=3"), HasSubstr("needs 3 cores, but a numa of this machine has only 2"));
}

TEST(Plan, MoreRanksThanCoresShareWithANotice) {
    const Machine two = [] {
        Machine machine = make_machine({.l2s = 2});
        machine.simulated = false;
        return machine;
    }();
    const Plan p = plan(4, "core", nullptr, two);
    EXPECT_EQ(p.cpus, (Sets{{0}, {0}, {1}, {1}})) << "neighbours share";
    EXPECT_THAT(p.note, HasSubstr("share"));
    EXPECT_EQ(plan(4, "core", "core", two).cpus, (Sets{{0}, {1}, {0}, {1}})) << "as requested: round robin";
    const Plan threads = plan(16, "core", nullptr);
    EXPECT_EQ(threads.placement.pu, first_ranks(16)) << "each on a thread of its own";
}

TEST(Plan, UserSets) {
    const Plan p = plan(3, "user:5+4,0", nullptr);
    EXPECT_EQ(p.cpus, (Sets{{5, 4}, {0}, {5, 4}}));
    EXPECT_EQ(p.placement.pu, (std::vector{5, 0, 5}));
    EXPECT_THAT(failure(1, "user:99", "slot"), HasSubstr("processing unit 99 is not among those usable"));
}

TEST(Plan, OsNumbersAreNotPositions) {
    Machine machine = make_machine({.l2s = 2});
    machine.simulated = false;
    machine.pus[0].os = 7;
    machine.pus[1].os = 3;
    EXPECT_EQ(plan(2, "core", nullptr, machine).cpus, (Sets{{7}, {3}}));
}

TEST(Plan, RanksAreNotBoundOnAPretendedMachine) {
    const Plan p = plan(64, "core", "numa", design_machine());
    EXPECT_EQ(p.cpus, Sets(64));
    EXPECT_TRUE(p.placement.fixed);
    EXPECT_EQ(p.placement.pu[1], 8);
    const Plan named = plan(2, "user:5,9", nullptr, design_machine());
    EXPECT_EQ(named.cpus, Sets(2));
    EXPECT_EQ(named.placement.pu, (std::vector{5, 9}));
}

TEST(Ranges, AreShort) {
    EXPECT_EQ(ranges(std::vector{0, 1, 2, 5}), "0-2,5");
    EXPECT_EQ(ranges(std::vector{3, 4}), "3-4");
    EXPECT_EQ(ranges({}), "");
}

}   // namespace
}   // namespace tutti::topo
