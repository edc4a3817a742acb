// SPDX-License-Identifier: BSD-3-Clause
// A rank's environment: inherited variables, those that options set, and the rank variables of MPICH and Open MPI.
#pragma once

#include <string>
#include <vector>

#include "launcher/base/job.hpp"

namespace tutti::launcher {

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
