// SPDX-License-Identifier: BSD-3-Clause
// How many processing units this process may really use: its affinity mask and the CPU quota of its cgroup. Without
// hwloc, because a program without a launcher needs it too. The wait policy is chosen by this number.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tutti::topo {

// The os numbers of this process's affinity mask, ascending; {0} when the kernel does not tell.
std::vector<int> affinity_pus();

// The tightest CPU quota of the process's cgroup (version 2 or 1) and its ancestors, in CPUs; none when unlimited.
// `root` stands before /proc and /sys, for tests.
std::optional<double> cgroup_cpu_quota(const std::string& root = "");

// The folders of a cgroup and of all above it, the innermost first, the mount last. In a container `path`, which
// /proc/self/cgroup names, may be the host's, whose first folders are not mounted: they are left out until the rest
// exists.
std::vector<std::string> cgroup_folders(const std::string& mount, std::string path);

// min(units, whole CPUs of the quota), at least 1: the number of ranks that can run at the same time.
int usable_cores(int units, const std::string& root = "");
int usable_cores();

}   // namespace tutti::topo
