// SPDX-License-Identifier: BSD-3-Clause
// Reads machines from simulated /sys folders, and compares the result for this machine with hwloc's.
#include "topo/this_machine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <numeric>

#include "tests/topo/files.hpp"
#include "tests/topo/machines.hpp"
#include "topo/detect.hpp"

namespace tutti::topo {
namespace {

using testing::ElementsAre;

class Sysfs : public Files {
protected:
    void cache(int unit, int index, const char* level, const char* type, const char* size, const std::string& shared) {
        const std::string at = cpu + std::to_string(unit) + "/cache/index" + std::to_string(index) + "/";
        write(at + "level", level);
        write(at + "type", type);
        write(at + "size", size);
        write(at + "shared_cpu_list", shared);
        write(at + "coherency_line_size", "128");
    }
    // Two sockets with two NUMA nodes of two cores each; unit i + 8 is the second thread of core i.
    void two_sockets() {
        for (int unit = 0; unit < 16; ++unit) {
            const int core = unit % 8, first = core / 2 * 2;
            const std::string at = cpu + std::to_string(unit) + "/topology/";
            const std::string both = std::to_string(core) + "," + std::to_string(core + 8);
            write(at + "physical_package_id", std::to_string(core / 4));
            write(at + "thread_siblings_list", both);
            cache(unit, 0, "1", "Data", "48K", both);
            cache(unit, 1, "1", "Instruction", "32K", both);
            cache(unit, 2, "2", "Unified", "2048K", both);
            cache(unit, 3, "3", "Unified", "16M",
                  std::to_string(first) + "-" + std::to_string(first + 1) + "," + std::to_string(first + 8) + "-" +
                      std::to_string(first + 9));
        }
        write("/sys/devices/system/node/online", "0-3");
        for (int node = 0; node < 4; ++node)
            write("/sys/devices/system/node/node" + std::to_string(node) + "/cpulist",
                  std::to_string(2 * node) + "-" + std::to_string(2 * node + 1) + "," + std::to_string(2 * node + 8) +
                      "-" + std::to_string(2 * node + 9));
        write("/proc/cpuinfo", "processor : 0\nmodel name\t: A Processor  9000\n");
    }

    SysfsMachine read_two_sockets() {
        std::vector<int> all(16);
        std::iota(all.begin(), all.end(), 0);
        return machine_in_sysfs(all, root);
    }

    const std::string cpu = "/sys/devices/system/cpu/cpu";
};

TEST_F(Sysfs, ReportsSharedCaches) {
    two_sockets();
    const auto [machine, complete] = read_two_sockets();
    EXPECT_TRUE(complete);
    EXPECT_EQ(machine.cpu, "A Processor  9000");
    EXPECT_EQ(machine.core_count(), 8);
    EXPECT_EQ(machine.count(Level::socket), 2);
    EXPECT_EQ(machine.count(Level::numa), 4);
    EXPECT_EQ(machine.count(Level::l3), 4);
    EXPECT_EQ(machine.count(Level::l2), 8);
    EXPECT_EQ(machine.pus[0].os, 0);
    EXPECT_EQ(machine.pus[1].os, 8);
    EXPECT_EQ(machine.pus[1].core, machine.pus[0].core);
    EXPECT_EQ(machine.caches.private_size, 2u << 20);
    EXPECT_EQ(machine.caches.last_level_size, 16u << 20);
    EXPECT_EQ(machine.caches.last_level_count, 4);
    EXPECT_EQ(machine.caches.line_size, 128u);
    const auto again = Machine::from_text(machine.to_text());
    ASSERT_TRUE(again) << again.error();
    EXPECT_EQ(*again, machine);
}

TEST_F(Sysfs, ContainsOnlyTheRequestedUnits) {
    two_sockets();
    const auto [machine, complete] = machine_in_sysfs({3, 6, 14}, root);
    EXPECT_TRUE(complete);
    ASSERT_EQ(machine.pus.size(), 3u);
    EXPECT_EQ(machine.pus[0], (Pu{.os = 3}));
    EXPECT_EQ(machine.pus[1], (Pu{.os = 6, .core = 1, .l2 = 1, .l3 = 1, .numa = 1, .socket = 1}));
    EXPECT_EQ(machine.pus[2], (Pu{.os = 14, .core = 1, .l2 = 1, .l3 = 1, .numa = 1, .socket = 1}));
}

TEST_F(Sysfs, WithoutADescriptionEachUnitIsACoreOfOneSocket) {
    const auto [machine, complete] = machine_in_sysfs({2, 5}, root);
    EXPECT_FALSE(complete);
    EXPECT_EQ(machine.pus, Machine::plain(std::vector{2, 5}).pus);
    EXPECT_EQ(machine.caches, Caches{});
}

TEST_F(Sysfs, WithoutCachesCoreAndSocketReplaceThem) {
    for (int unit : {0, 1}) write(cpu + std::to_string(unit) + "/topology/physical_package_id", std::to_string(unit));
    const auto [machine, complete] = machine_in_sysfs({0, 1}, root);
    EXPECT_FALSE(complete);
    EXPECT_EQ(machine.count(Level::l3), 2);
    EXPECT_EQ(machine.count(Level::l2), 2);
    EXPECT_EQ(machine.count(Level::numa), 1);
}

TEST_F(Sysfs, NumbersInTheOrderOfTheLowestUnitsAsHwlocDoes) {
    two_sockets();
    for (int unit = 0; unit < 16; ++unit)
        write(cpu + std::to_string(unit) + "/topology/physical_package_id", unit % 8 < 4 ? "7" : "3");
    const Machine machine = read_two_sockets().machine;
    EXPECT_EQ(machine.pus[0], (Pu{.os = 0}));
    EXPECT_EQ(machine.pus[15], (Pu{.os = 15, .core = 7, .l2 = 7, .l3 = 3, .numa = 3, .socket = 1}));
}

// Each entry is missing or empty in some virtual machines or containers.
TEST_F(Sysfs, IsIncompleteIfAnyPartOfTheDescriptionIsMissing) {
    const auto without = [&](const std::string& entry) {
        two_sockets();
        std::filesystem::remove_all(root + entry);
        const bool complete = read_two_sockets().complete;
        std::filesystem::remove_all(root + "/sys");
        return !complete;
    };
    EXPECT_TRUE(without(cpu + "0/cache"));
    EXPECT_TRUE(without(cpu + "0/cache/index3")) << "the L3";
    EXPECT_TRUE(without(cpu + "0/cache/index3/size"));
    EXPECT_TRUE(without(cpu + "0/cache/index2/size"));
    EXPECT_TRUE(without(cpu + "5/cache/index2/shared_cpu_list")) << "the second thread of core 5 has no list";
    EXPECT_TRUE(without(cpu + "6/topology"));
    EXPECT_TRUE(without(cpu + "6/topology/physical_package_id"));
    EXPECT_FALSE(without("/sys/devices/system/node")) << "a kernel without NUMA";
}

TEST_F(Sysfs, AnL3ThatOnlySomeUnitsHaveIsReplacedByTheSocket) {
    two_sockets();
    for (int unit : {4, 5, 12, 13}) std::filesystem::remove_all(root + cpu + std::to_string(unit) + "/cache/index3");
    const auto [machine, complete] = read_two_sockets();
    EXPECT_FALSE(complete);
    EXPECT_EQ(machine.count(Level::l3), 2);
    for (const Pu& pu : machine.pus) EXPECT_EQ(pu.l3, pu.socket);
    EXPECT_EQ(machine.count(Level::l2), 8);
}

// If /sys is incomplete, the code uses hwloc's answer instead (tests/runtime/job/node_machine_test.cpp).
TEST_F(Sysfs, DetectsThisMachineAsHwlocDoes) {
    const auto [here, complete] = machine_in_sysfs(affinity_pus());
    const Machine theirs = detect_machine();
    EXPECT_EQ(here.cpu, theirs.cpu);
    EXPECT_EQ(here.pus.size(), theirs.pus.size());
    if (!complete) GTEST_SKIP() << "/sys does not describe all of this machine";
    EXPECT_EQ(numbered_from_zero(here.pus), numbered_from_zero(theirs.pus));
    EXPECT_EQ(here.caches.last_level_size, theirs.caches.last_level_size);
    EXPECT_EQ(here.caches.private_size, theirs.caches.private_size);
    EXPECT_EQ(here.caches.line_size, theirs.caches.line_size);
    EXPECT_EQ(here.caches.inclusive, theirs.caches.inclusive);
}

}   // namespace
}   // namespace tutti::topo
