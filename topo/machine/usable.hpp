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

// The path of a cgroup as it is seen below a mount. In a container the path that /proc names may be the host's, whose
// first folders are hidden behind the mount: they are left out until the rest exists; "" is the mount itself.
std::string visible_cgroup(const std::string& mount, std::string path);

// min(units, whole CPUs of the quota), at least 1: the number of ranks that can run at the same time.
int usable_cores(int units, const std::string& root = "");
int usable_cores();

}   // namespace tutti::topo
