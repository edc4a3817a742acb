// SPDX-License-Identifier: BSD-3-Clause
// Tests to which hardware a process is restricted, and the names by which programs request hardware resources.
#include "topo/binding.hpp"

#include <gtest/gtest.h>

#include "tests/topo/machines.hpp"

namespace tutti::topo {
namespace {

const Machine machine = make_machine({.sockets = 2, .numas = 2, .l3s = 1, .l2s = 2, .cores = 2, .threads = 2});

// A set of the processing units from `first` to `last`.
Restriction on(int first, int last) {
    return restriction(
        machine,
        std::span(machine.pus).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first + 1)));
}

TEST(Restriction, IsToAllThatTheProcessingUnitsHaveInCommon) {
    // node, socket, numa, l3, l2, core, hwthread
    EXPECT_EQ(on(31, 31), (Restriction{0, 1, 3, 3, 7, 15, 31}));
    EXPECT_EQ(on(30, 31), (Restriction{0, 1, 3, 3, 7, 15, -1}));
    EXPECT_EQ(on(28, 31), (Restriction{0, 1, 3, 3, 7, -1, -1}));
    EXPECT_EQ(on(24, 31), (Restriction{0, 1, 3, 3, -1, -1, -1}));
    EXPECT_EQ(on(16, 31), (Restriction{0, 1, -1, -1, -1, -1, -1}));
    EXPECT_EQ(on(0, 31), (Restriction{0, -1, -1, -1, -1, -1, -1}));
}

TEST(Restriction, WithoutProcessingUnitsItIsTheMachines) {
    EXPECT_EQ(restriction(machine, {}), on(0, 31));
    EXPECT_EQ(restriction(Machine::plain({}), {}), (Restriction{0, 0, 0, 0, 0, 0, 0}));
    EXPECT_EQ(restriction(Machine{}, {}), (Restriction{0, -1, -1, -1, -1, -1, -1}));
}

TEST(Restriction, EveryKindIsFoundByItsName) {
    for (const Unit unit : hardware) EXPECT_EQ(hardware_named(hwloc_name(unit)), unit) << hwloc_name(unit);
    EXPECT_EQ(hardware_named("NUMANode"), Unit::numa);
    EXPECT_EQ(hardware_named("HWLOC://l3cache"), Unit::l3);
    EXPECT_EQ(hardware_named("socket"), Unit::socket);
    for (const char* name : {"", "hwloc://", "slot", "Abacus", "hwloc://hwloc://PU"})
        EXPECT_EQ(hardware_named(name), std::nullopt) << name;
}

}   // namespace
}   // namespace tutti::topo
