// SPDX-License-Identifier: BSD-3-Clause
// Tests hwloc detection: the real machine within the affinity mask, and simulated machines by description and by file.
#include "topo/detect.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/topo/machines.hpp"
#include "topo/binding.hpp"
#include "topo/this_machine.hpp"

namespace tutti::topo {
namespace {

using testing::HasSubstr;

std::vector<int> os_numbers(const Machine& machine) {
    std::vector<int> numbers;
    for (const Pu& pu : machine.pus) numbers.push_back(pu.os);
    std::sort(numbers.begin(), numbers.end());
    return numbers;
}

TEST(Detect, ThisMachineIsItsAffinityMask) {
    const Machine machine = detect_machine();
    EXPECT_EQ(os_numbers(machine), affinity_pus());
    EXPECT_EQ(machine.cpu, kernel_cpu_name());
    EXPECT_FALSE(machine.simulated);
    EXPECT_GE(machine.caches.line_size, 32u);
    const auto again = Machine::from_text(machine.to_text());
    ASSERT_TRUE(again) << again.error();
    EXPECT_EQ(*again, machine);
}

TEST(Detect, ANarrowerMaskIsASmallerMachine) {
    std::thread([] {
        const int last = affinity_pus().back();
        ASSERT_EQ(apply_binding(std::vector{last}), "");
        EXPECT_EQ(os_numbers(detect_machine()), std::vector{last});
    }).join();
}

TEST(Detect, TheWholeMachineHasUnitsOutsideOfTheMask) {
    std::thread([] {
        const std::vector<int> all = affinity_pus();
        ASSERT_EQ(apply_binding(std::vector{all.back()}), "");
        EXPECT_THAT(os_numbers(detect_whole_machine()), testing::IsSupersetOf(all));
        EXPECT_EQ(affinity_pus(), std::vector{all.back()}) << "hwloc must restore the mask after it visits each unit";
    }).join();
}

TEST(Detect, LeavesTheEnvironmentAsItWas) {
    setenv("HWLOC_PLUGINS_PATH", "/somewhere", 1);
    detect_machine();
    EXPECT_STREQ(std::getenv("HWLOC_PLUGINS_PATH"), "/somewhere");
    unsetenv("HWLOC_PLUGINS_PATH");
    detect_machine();
    EXPECT_EQ(std::getenv("HWLOC_PLUGINS_PATH"), nullptr);
}

TEST(Pretend, AMachineBeyondTheBoundIsRefusedBeforeHwlocTakesMinutes) {
    for (char const* description : {"socket:10000", "socket:0x2710", "socket:100 core:100 pu:2",
                                    "numa:999999999999999999", "pack:2 [numa(memory=1GB)] core:64 pu:64"}) {
        const auto machine = simulated_machine(description);
        ASSERT_FALSE(machine) << description;
        EXPECT_THAT(machine.error(), HasSubstr("more than 4096 processing units")) << description;
    }
    const auto most = simulated_machine("socket:8 numa:4 core:128");
    ASSERT_TRUE(most) << most.error();
    EXPECT_EQ(most->pus.size(), 4096u);
}

TEST(Pretend, AFileWithoutAnEndIsRefused) {
    const auto machine = simulated_machine("/dev/zero");
    ASSERT_FALSE(machine);
    EXPECT_THAT(machine.error(), HasSubstr("/dev/zero cannot be read: it is a device or a pipe"));
}

TEST(Pretend, TheDesignsExample) {
    const auto machine = simulated_machine("socket:2 numa:4 core:8");
    ASSERT_TRUE(machine) << machine.error();
    EXPECT_TRUE(machine->simulated);
    EXPECT_EQ(machine->count(Level::socket), 2);
    EXPECT_EQ(machine->count(Level::numa), 8);
    EXPECT_EQ(machine->core_count(), 64);
    EXPECT_EQ(machine->pus.size(), 64u);
}

TEST(Pretend, CachesAndThreads) {
    const auto machine = simulated_machine("socket:2 numa:2 l3:2(size=33554432) l2:2(size=1048576) core:2 pu:2");
    ASSERT_TRUE(machine) << machine.error();
    const Machine expected = make_machine({.sockets = 2, .numas = 2, .l3s = 2, .l2s = 2, .cores = 2, .threads = 2});
    EXPECT_EQ(machine->pus, expected.pus);
    EXPECT_EQ(machine->caches.last_level_size, 33554432u);
    EXPECT_EQ(machine->caches.last_level_count, 8);
}

TEST(Pretend, NumaNodesInsideOneCacheAreDetected) {
    const auto machine = simulated_machine("socket:1 l3:1 numa:4 core:2");
    ASSERT_TRUE(machine) << machine.error();
    EXPECT_EQ(machine->count(Level::l3), 1);
    EXPECT_EQ(machine->count(Level::numa), 4);
}

TEST(Pretend, BadDescriptionsGiveErrorMessages) {
    EXPECT_THAT(simulated_machine("soket:2").error(), HasSubstr("\"soket:2\" describes no machine"));
    EXPECT_THAT(simulated_machine("core:0").error(), HasSubstr("describes no machine"));
    EXPECT_THAT(simulated_machine("/does/not/exist.xml").error(), HasSubstr("No such file"));
    EXPECT_THAT(simulated_machine("missing.xml").error(), HasSubstr("missing.xml cannot be read"));
}

TEST(Pretend, AnXmlFile) {
    std::string name = std::filesystem::temp_directory_path() / "tutti-xml-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    const std::string file = name + "/machine.xml";
    std::ofstream(file) << R"(<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
 <object type="Machine" os_index="0" cpuset="0x3" complete_cpuset="0x3" allowed_cpuset="0x3" nodeset="0x1"
  complete_nodeset="0x1" allowed_nodeset="0x1" gp_index="1">
  <object type="NUMANode" os_index="0" cpuset="0x3" complete_cpuset="0x3" nodeset="0x1" complete_nodeset="0x1"
   gp_index="2" local_memory="1073741824"/>
  <object type="Package" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1"
   gp_index="3">
   <object type="PU" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1" gp_index="4"/>
  </object>
  <object type="Package" os_index="1" cpuset="0x2" complete_cpuset="0x2" nodeset="0x1" complete_nodeset="0x1"
   gp_index="5">
   <object type="PU" os_index="1" cpuset="0x2" complete_cpuset="0x2" nodeset="0x1" complete_nodeset="0x1" gp_index="6"/>
  </object>
 </object>
</topology>
)";
    const auto machine = read_machine(file);
    EXPECT_TRUE(machine) << machine.error();
    if (machine) {
        EXPECT_EQ(machine->count(Level::socket), 2);
        EXPECT_TRUE(machine->simulated);
    }
    std::ofstream(file) << "this is no XML";
    EXPECT_THAT(read_machine(file).error(), HasSubstr("is not a machine described in hwloc's XML"));
    std::filesystem::remove_all(name);
}

}   // namespace
}   // namespace tutti::topo
