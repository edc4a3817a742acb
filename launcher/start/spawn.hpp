// SPDX-License-Identifier: BSD-3-Clause
// Starting one rank's process.
#pragma once

#include <csignal>
#include <string>
#include <vector>

#include <sys/resource.h>
#include <sys/types.h>

namespace tutti::launcher {

/// What a process needs to become a rank. Descriptors stay the launcher's; the child gets copies.
struct Start {
    std::string path;                   ///< of the program
    std::vector<std::string> command;   ///< argv
    std::vector<std::string> environment;
    std::string directory;                  ///< empty: stay
    std::vector<int> cpus;                  ///< empty: not bound
    int input = 0, output = 1, error = 2;   ///< become descriptors 0, 1 and 2
    std::vector<int> kept;                  ///< descriptors that the program inherits besides
    sigset_t const* signals = nullptr;      ///< the mask that mpiexec was started with
    rlimit const* descriptors = nullptr;    ///< the limit that mpiexec was started with
    bool leaves_terminal = false;           ///< /dev/tty does not exist for it; only mpiexec uses the terminal
};

/// The pid of the new process, which leads its own process group and is killed when the launcher dies. Throws Complaint
/// with exit code 126 or 127 when it cannot be started.
pid_t spawn(Start const& start);

}   // namespace tutti::launcher
