// SPDX-License-Identifier: BSD-3-Clause
// Starts the process of one rank.
#pragma once

#include <csignal>
#include <string>
#include <vector>

#include <sys/resource.h>
#include <sys/types.h>

namespace tutti::launcher {

/// The parameters of a process that becomes a rank. The launcher keeps its descriptors; the child gets copies.
struct SpawnOptions {
    std::string path;                   ///< of the program
    std::vector<std::string> command;   ///< argv
    std::vector<std::string> environment;
    std::string directory;                      ///< empty: the current one
    std::vector<int> cpus;                      ///< empty: not bound
    int input = 0, output = 1, error = 2;       ///< become descriptors 0, 1 and 2
    std::vector<int> inherited_descriptors;     ///< further descriptors that the program inherits
    sigset_t const* signal_mask = nullptr;      ///< the mask that mpiexec was started with
    rlimit const* descriptor_limit = nullptr;   ///< the limit that mpiexec was started with
    /// the child detaches from its terminal: it cannot open /dev/tty, which only mpiexec uses
    bool detach_terminal = false;
};

/// Returns the pid of the new process, which leads its own process group and is killed if the launcher dies. Throws
/// LaunchError with exit code 126 or 127 if it cannot be started.
pid_t spawn(SpawnOptions const& start);

}   // namespace tutti::launcher
