// SPDX-License-Identifier: BSD-3-Clause
// What a rank finds in its environment: what it inherits, what options set, and the rank variables of both families.
#pragma once

#include <string>
#include <vector>

#include "launcher/base/job.hpp"

namespace tutti::launcher {

/// How the launcher with this process number is known on this machine, also from within containers: PID@NAMESPACE.
std::string launcher_name(int process);

/// Everything about a rank that its environment tells.
struct RankFacts {
    int rank = 0, ranks = 1;        ///< in the world
    int place = 0, places = 1;      ///< on its node
    std::vector<int> listeners{};   ///< descriptors; none in a job on one node
    int program = 0;                ///< which of the programs between colons
    int segment = -1;               ///< descriptor
    std::string launcher{};         ///< launcher_name of the launcher
    int gpus = -1;                  ///< that the rank may use; −1: all
};

/// What the loader is to find first.
struct LibraryInFront {
    std::string folder;     ///< for --drop-in; empty: nothing
    bool preload = false;   ///< a program with a search path of its own needs it loaded, not only found
    std::string arena;      ///< file with our allocation functions, to be loaded; empty: none
};

/// "NAME=VALUE" entries, no name twice. `inherited` is like environ.
std::vector<std::string> rank_environment(char const* const* inherited, EnvironmentRules const& everywhere,
                                          EnvironmentRules const& own, RankFacts const& facts,
                                          LibraryInFront const& library);

}   // namespace tutti::launcher
