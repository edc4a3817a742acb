// SPDX-License-Identifier: BSD-3-Clause
// Machines described in made-up folders, and this one, as hwloc reads it from the same description.
#include "topo/machine/sysfs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/topo/files.hpp"
#include "topo/machine/detect.hpp"
#include "topo/machine/usable.hpp"

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

    const std::string cpu = "/sys/devices/system/cpu/cpu";
};

TEST_F(Sysfs, TellsWhoSharesWhat) {
    two_sockets();
    std::vector<int> all(16);
    for (int unit = 0; unit < 16; ++unit) all[static_cast<std::size_t>(unit)] = unit;
    const Machine machine = machine_in_sysfs(all, root);
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

TEST_F(Sysfs, KnowsOnlyTheUnitsThatItIsAskedFor) {
    two_sockets();
    const Machine machine = machine_in_sysfs({3, 6, 14}, root);
    ASSERT_EQ(machine.pus.size(), 3u);
    EXPECT_EQ(machine.pus[0], (Pu{.os = 3}));
    EXPECT_EQ(machine.pus[1], (Pu{.os = 6, .core = 1, .l2 = 1, .l3 = 1, .numa = 1, .socket = 1}));
    EXPECT_EQ(machine.pus[2], (Pu{.os = 14, .core = 1, .l2 = 1, .l3 = 1, .numa = 1, .socket = 1}));
}

TEST_F(Sysfs, WithoutADescriptionEachUnitIsACoreOfOneSocket) {
    const Machine machine = machine_in_sysfs({2, 5}, root);
    EXPECT_EQ(machine.pus, Machine::plain(std::vector{2, 5}).pus);
    EXPECT_EQ(machine.caches, Caches{});
}

TEST_F(Sysfs, WithoutCachesCoreAndSocketTakeTheirPart) {
    for (int unit : {0, 1}) write(cpu + std::to_string(unit) + "/topology/physical_package_id", std::to_string(unit));
    const Machine machine = machine_in_sysfs({0, 1}, root);
    EXPECT_EQ(machine.count(Level::l3), 2);
    EXPECT_EQ(machine.count(Level::l2), 2);
    EXPECT_EQ(machine.count(Level::numa), 1);
}

// Where the kernel does not describe caches (many virtual machines), hwloc asks the processor, whose answer there is
// that of the host. Both are compared by what they make of the kernel's description.
TEST_F(Sysfs, SeesThisMachineAsHwlocDoes) {
    setenv("HWLOC_COMPONENTS", "linux,stop", 1);
    const Machine here = machine_in_sysfs(affinity_pus()), theirs = detect_machine();
    unsetenv("HWLOC_COMPONENTS");
    EXPECT_EQ(here.cpu, theirs.cpu);
    for (const Level level : {Level::l2, Level::l3, Level::numa, Level::socket})
        EXPECT_EQ(here.count(level), theirs.count(level)) << name_of(level);
    EXPECT_EQ(here.core_count(), theirs.core_count());
    EXPECT_EQ(here.caches.last_level_size, theirs.caches.last_level_size);
    EXPECT_EQ(here.caches.private_size, theirs.caches.private_size);
}

}   // namespace
}   // namespace tutti::topo
