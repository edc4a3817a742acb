// SPDX-License-Identifier: BSD-3-Clause
// Why a rank was killed: did memory run out? The kernel's signal does not say so, its counters do: those of the cgroup
// (version 2 or 1) that mpiexec and its ranks are in, read before the job and when a rank has died.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tutti::launcher {

class MemoryWatch {
public:
    /// From now on. `root` stands before /proc and /sys, for tests.
    explicit MemoryWatch(std::string root = "");

    /// If the system has killed a process of this cgroup for want of memory since it was asked last, what had run out:
    /// "the memory limit of its cgroup, 512 MiB, was reached"; empty otherwise.
    std::string what_ran_out();

private:
    /// Processes of the cgroup that were killed, whoever's memory it was that had run out.
    std::uint64_t kills() const;
    std::optional<std::uint64_t> reached_limit() const;

    std::string root_;
    std::vector<std::string> folders_;   ///< the cgroup's, then those above it
    std::uint64_t last_;
};

}   // namespace tutti::launcher
