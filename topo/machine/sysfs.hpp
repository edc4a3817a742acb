// SPDX-License-Identifier: BSD-3-Clause
// This machine as the kernel describes it in /sys, without hwloc: for ranks that another launcher has started, of which
// one per node has to know the machine (runtime/job/node_machine.hpp).
#pragma once

#include <string>
#include <vector>

#include "topo/machine/machine.hpp"

namespace tutti::topo {

struct SysfsMachine {
    Machine machine;
    /// True if hwloc sees the same machine: /sys gives the socket, core, L2 and L3 of each unit and the size of these
    /// caches. False in many virtual machines, where hwloc asks the processor itself. Without an L3 it is false, too:
    /// the processor may have one that the kernel does not know.
    bool complete = false;
};

/// The processing units of these os numbers, at least one, in hwloc's order. What /sys does not describe is as in
/// Machine::plain. Two or three small reads per core. `root` is prepended to /proc and /sys, for tests.
SysfsMachine machine_in_sysfs(const std::vector<int>& os_numbers, const std::string& root = "");

// The processor's name as the kernel tells it; empty where it does not.
std::string kernel_cpu_name(const std::string& root = "");

}   // namespace tutti::topo
