// SPDX-License-Identifier: BSD-3-Clause
// tutti-daemon as a helper of ranks whose job is not our mpiexec's: it watches them (watcher.hpp) and detects the
// machine with hwloc (node_machine.hpp), for both of which the MPI library itself links nothing.
#pragma once

#include <string>
#include <vector>

namespace tutti {

/// The path of the tutti-daemon of the installation that this library belongs to; it may not exist. Empty if the
/// library's own path is unknown.
std::string daemon_program();

/// This process's environment as posix_spawn takes it, without LD_PRELOAD: what is preloaded is for ranks alone. Valid
/// until the environment changes.
std::vector<char*> daemon_environment();

}   // namespace tutti
