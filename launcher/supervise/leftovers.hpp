// SPDX-License-Identifier: BSD-3-Clause
// What ranks started and left behind. mpiexec is a subreaper, so orphans below it become its own children, whatever
// session or group they moved to, and can be listed and ended.
#pragma once

#include <set>
#include <string>
#include <vector>

#include <sys/types.h>

namespace tutti::launcher {

/// From now on orphaned descendants become children of this process.
void adopt_orphans();

/// Children of this process, zombies included; empty where the kernel does not list them.
std::vector<pid_t> children();

/// "process 4711 (name)"; empty when it has ended, though it may not have been reaped yet.
std::string running_process(pid_t pid);

/// Whether a process was started with this "NAME=VALUE" in its environment.
bool has_entry(pid_t pid, std::string const& entry);

/// Whether a process has one of these pipes open; `pipes`: their inodes.
bool has_open(pid_t pid, std::set<ino_t> const& pipes);

}   // namespace tutti::launcher
