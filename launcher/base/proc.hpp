// SPDX-License-Identifier: BSD-3-Clause
// Processes in /proc. If this process has a pid namespace of its own but sees the /proc of another namespace, the
// numbers there denote other processes; nothing in it is then used.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

namespace tutti::launcher {

/// Returns true if the process numbers in /proc are those of this process's pid namespace.
bool proc_matches_pid_namespace();

/// Returns "/proc/PID", or a folder that does not exist if the numbers in /proc denote other processes.
std::string process_folder(pid_t process);

/// Returns the children that the main thread of `process` has started; empty if the kernel does not list them.
std::vector<pid_t> children_of(pid_t process);

/// Returns the pid, in this namespace, of the process that has `pid` in the pid namespace `pid_namespace` (the inode of
/// /proc/PID/ns/pid). Searches `ancestor` and its descendants. Returns 0 if no such process exists or is visible.
pid_t find_descendant(pid_t ancestor, pid_t pid, std::uint64_t pid_namespace);

}   // namespace tutti::launcher
