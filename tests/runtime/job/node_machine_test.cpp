// SPDX-License-Identifier: BSD-3-Clause
// Detection of the machine: from /sys if it is complete, else by the helper, else without caches. The helper is the
// tutti-daemon of this build, or a script that prints another machine.
#include "runtime/job/node_machine.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include "tests/topo/files.hpp"
#include "tests/topo/machines.hpp"
#include "topo/detect.hpp"
#include "topo/this_machine.hpp"

namespace tutti {
namespace {

/// `root` is a folder without a description of a machine.
class NodeMachines : public topo::Files {
protected:
    /// A helper that is a shell script and appends its arguments to the file `calls`.
    MachineHelper script(std::string const& lines, int limit_ms = 60'000) {
        std::string const name = root + "/helper";
        std::ofstream(name) << "#!/bin/sh\necho \"$@\" >>'" << root << "/calls'\n" << lines << '\n';
        std::filesystem::permissions(name, std::filesystem::perms::owner_all);
        return {name, limit_ms};
    }
    std::string calls() const {
        std::ifstream in(root + "/calls");
        return {std::istreambuf_iterator<char>(in), {}};
    }
    /// A helper that prints this machine.
    MachineHelper printing(topo::Machine const& machine) {
        write("/answer", machine.to_text());
        std::filesystem::resize_file(root + "/answer", machine.to_text().size());   // without an empty line at the end
        return script("exec cat '" + root + "/answer'");
    }
    static topo::Machine node_machine(std::vector<int> const& units, std::string const& root = "",
                                      MachineHelper const& helper = {}) {
        return NodeMachine(root, helper).reduced_to(units);
    }
    static void expect_no_child() { EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a child process is left"; }

    std::vector<int> const units = topo::affinity_pus();
};

TEST_F(NodeMachines, IsDetectedByHwlocWithoutADescriptionInSys) {
    topo::Machine const found = node_machine(units, root);
    topo::Machine expected = topo::detect_whole_machine();
    std::erase_if(expected.pus, [&](topo::Pu pu) { return !std::ranges::binary_search(units, pu.os); });
    EXPECT_EQ(found, expected);
    expect_no_child();
}

TEST_F(NodeMachines, EqualsTheMachineThatHwlocDetects) {
    topo::Machine const found = node_machine(units), expected = topo::detect_machine();
    EXPECT_EQ(topo::numbered_from_zero(found.pus), topo::numbered_from_zero(expected.pus));
    EXPECT_EQ(found.caches.private_size, expected.caches.private_size);
    EXPECT_EQ(found.caches.last_level_size, expected.caches.last_level_size);
    EXPECT_EQ(found.caches.inclusive, expected.caches.inclusive);
}

TEST_F(NodeMachines, RunsTheHelperOnceAndOnlyIfSysIsIncomplete) {
    topo::Machine machine = topo::make_machine({.l3s = 2, .cores = 2});
    machine.caches.last_level_size = 12345678;
    MachineHelper const helper = printing(machine);
    EXPECT_EQ(node_machine({0, 1, 2, 3}, root, helper), machine);
    EXPECT_EQ(calls(), "--machine\n");
    if (!topo::machine_in_sysfs(units).complete) GTEST_SKIP() << "/sys does not describe all of this machine";
    EXPECT_NE(node_machine(units, "", helper), machine);
    EXPECT_EQ(calls(), "--machine\n");
}

TEST_F(NodeMachines, RunsTheHelperOnceIfItWasStartedBefore) {
    topo::Machine const machine = topo::make_machine({.cores = 2});
    NodeMachine node(root, printing(machine));
    node.start({1});
    node.start({1});
    EXPECT_EQ(node.reduced_to({0, 1}), machine);
    topo::Machine const second = NodeMachine(root, printing(machine)).reduced_to({1});
    EXPECT_THAT(second.pus, testing::ElementsAre(machine.pus[1])) << "reduced to the requested units";
    EXPECT_EQ(calls(), "--machine\n--machine\n");
}

TEST_F(NodeMachines, LeavesNoChildIfItsOutputIsNotAwaited) {
    NodeMachine(root, printing(topo::make_machine({.cores = 2}))).start({0});
    NodeMachine(root, script("exec yes")).start({0});
    NodeMachine(root, script("exec sleep 100000")).start({0});
    expect_no_child();
}

TEST_F(NodeMachines, UsesOnlyTheCachesOfAHelperThatDoesNotSeeAllUnits) {
    topo::Machine machine = topo::make_machine({.cores = 2});
    machine.caches.last_level_size = 12345678;
    topo::Machine const found = node_machine({1, 2}, root, printing(machine));
    EXPECT_EQ(found.pus, topo::Machine::plain(std::vector{1, 2}).pus);
    EXPECT_EQ(found.caches, machine.caches);
}

TEST_F(NodeMachines, HasUnknownCachesIfTheHelperFails) {
    topo::Machine const unknown = topo::machine_in_sysfs(units, root).machine;
    EXPECT_EQ(unknown.caches, topo::Caches{});
    for (MachineHelper const& helper : {MachineHelper{""}, MachineHelper{"/nonexistent"}, MachineHelper{root},
                                        script("exit 3"), script("kill -9 $$")})
        EXPECT_EQ(node_machine(units, root, helper), unknown) << helper.program;
    EXPECT_EQ(node_machine(units, root, script("echo tutti-machine 1; echo nonsense")), unknown);
    EXPECT_EQ(node_machine(units, root, script("exec yes")), unknown) << "endless output";
    EXPECT_EQ(node_machine(units, root, script("exec sleep 100000", 100)), unknown) << "a helper that hangs";
    expect_no_child();
}

TEST_F(NodeMachines, WorksInAProgramThatIgnoresSigchld) {
    topo::Machine const machine = topo::make_machine({.cores = 2});
    MachineHelper const helper = printing(machine);
    auto* const before = signal(SIGCHLD, SIG_IGN);
    EXPECT_EQ(node_machine({0, 1}, root, helper), machine);
    signal(SIGCHLD, before);
}

}   // namespace
}   // namespace tutti
