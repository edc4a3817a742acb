// SPDX-License-Identifier: BSD-3-Clause
// This machine as the kernel describes it in /sys, without hwloc: for ranks that another launcher has started, of which
// one per node has to know the machine. It sees less than hwloc does (no inclusive caches, no memory without cores).
#pragma once

#include <string>
#include <vector>

#include "topo/machine/machine.hpp"

namespace tutti::topo {

// The processing units of these os numbers, at least one. What /sys does not tell is as Machine::plain has it. Two or
// three small reads per core. `root` stands before /proc and /sys, for tests.
Machine machine_in_sysfs(const std::vector<int>& os_numbers, const std::string& root = "");

// The processor's name as the kernel tells it; empty where it does not.
std::string kernel_cpu_name(const std::string& root = "");

}   // namespace tutti::topo
