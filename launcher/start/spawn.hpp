// SPDX-License-Identifier: BSD-3-Clause
// The process of one rank: its start, and its environment.
#pragma once

#include <csignal>
#include <string>
#include <vector>

#include <sys/resource.h>
#include <sys/types.h>

#include "launcher/base/job.hpp"

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
    bool closes_others = false;                 ///< it inherits no others, whether they have close-on-exec set or not
    sigset_t const* signal_mask = nullptr;      ///< the mask that mpiexec was started with
    rlimit const* descriptor_limit = nullptr;   ///< the limit that mpiexec was started with
    /// the child detaches from its terminal: it cannot open /dev/tty, which only mpiexec uses
    bool detach_terminal = false;
};

/// Returns the pid of the new process, which leads its own process group and is killed if the launcher dies. Throws
/// LaunchError with exit code 126 or 127 if it cannot be started.
pid_t spawn(SpawnOptions const& start);

// A rank's environment: inherited variables, those that options set, and the rank variables of MPICH and Open MPI.

/// Returns the name of the launcher with this process id, unique on this machine also across containers:
/// PID@NAMESPACE.
std::string launcher_name(int process);

/// The facts about a rank that its environment contains.
struct RankFacts {
    int rank = 0, ranks = 1;               ///< in MPI_COMM_WORLD
    int local_rank = 0, local_ranks = 1;   ///< local rank, and number of ranks on its node
    std::vector<int> listeners{};          ///< descriptors; empty in a job on one node
    int program = 0;                       ///< index of its program among those separated by colons
    int segment = -1;                      ///< descriptor
    std::string launcher{};                ///< launcher_name of the launcher
    int gpus = -1;                         ///< number of GPUs that the rank may use; −1: all
    std::vector<std::pair<std::string, std::string>> server_variables{};   ///< those of RankServers::Access
};

/// Libraries that the loader must find first.
struct LibraryOverrides {
    std::string folder;     ///< for --drop-in; empty: none
    bool preload = false;   ///< preload our MPI library, because the program's search path precedes LD_LIBRARY_PATH
    std::string arena;      ///< library with our allocation functions, to be preloaded; empty: none
};

/// Returns "NAME=VALUE" entries with distinct names. `inherited` has the form of environ.
std::vector<std::string> rank_environment(char const* const* inherited, EnvironmentRules const& all_programs,
                                          EnvironmentRules const& own, RankFacts const& facts,
                                          LibraryOverrides const& library);

}   // namespace tutti::launcher
