// SPDX-License-Identifier: BSD-3-Clause
// The teams that a hierarchical algorithm follows, from the machine as it was and the levels that the rank has traced.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "launcher/report/recording/recording.hpp"

namespace tutti::launcher {

/// A level of the hierarchy, innermost first: the ranks of the world under each of its teams.
struct TeamLevel {
    std::string name;
    std::vector<std::vector<int>> teams;
};

/// Of a communicator with these members (ranks of the world); `levels` as Hierarchy::describe says it. Empty where it
/// is not known.
std::vector<TeamLevel> teams_of(std::vector<RecordedNode> const& nodes, std::vector<int> const& members,
                                std::string_view levels);

}   // namespace tutti::launcher
