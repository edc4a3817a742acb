// SPDX-License-Identifier: BSD-3-Clause
// This machine as the kernel describes it in /sys, without hwloc, and the processing units that this process may use.
// The description is used when another launcher has started the ranks: one rank per node then reads it
// (runtime/job/node_machine.hpp).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "topo/machine.hpp"

namespace tutti::topo {

struct SysfsMachine {
    Machine machine;
    /// True if hwloc would find the same machine: /sys gives the socket, core, L2 and L3 cache of each unit and the
    /// size of these caches. False in many virtual machines, where hwloc asks the processor itself. Also false without
    /// an L3 cache, because the processor may have one that the kernel does not know.
    bool complete = false;
};

/// Returns the machine made of the processing units with these OS numbers (at least one) in hwloc's order. Properties
/// that /sys does not describe are as in Machine::plain. Makes two or three small reads per core. `root` is prepended
/// to /proc and /sys, for tests.
SysfsMachine machine_in_sysfs(const std::vector<int>& os_numbers, const std::string& root = "");

/// Returns the model name of the processor as the kernel reports it, or an empty string.
std::string kernel_cpu_name(const std::string& root = "");

// Number of processing units that this process can really use: its affinity mask and the CPU quota of its cgroup.
// Without hwloc, because a program without a launcher needs it as well. The wait policy depends on this number.

/// Returns the OS numbers in this process's affinity mask, ascending; {0} if the kernel does not report it.
std::vector<int> affinity_pus();

/// Returns the tightest CPU quota of the process's cgroup (version 1 or 2) and its ancestors, in CPUs; none if
/// unlimited. `root` is prepended to /proc and /sys, for tests.
std::optional<double> cgroup_cpu_quota(const std::string& root = "");

/// Returns min(units, whole CPUs of the quota), but at least 1: the number of ranks that can run at the same time.
/// `units` defaults to the size of the affinity mask.
int usable_cores(int units, const std::string& root = "");
int usable_cores();

}   // namespace tutti::topo
