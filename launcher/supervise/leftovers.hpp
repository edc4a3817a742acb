// SPDX-License-Identifier: BSD-3-Clause
// What ranks started and left behind. mpiexec is a subreaper, so orphans below it become its own children, whatever
// session or group they moved to, and can be listed and ended.
#pragma once

#include <vector>

#include <sys/types.h>

namespace tutti::launcher {

/// From now on orphaned descendants become children of this process.
void adopt_orphans();

/// Children of this process, zombies included; empty where the kernel does not list them.
std::vector<pid_t> children();

}   // namespace tutti::launcher
