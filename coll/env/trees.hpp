// SPDX-License-Identifier: BSD-3-Clause
// The hierarchies of a communicator that algorithms use.
#pragma once

#include "topo/hierarchy.hpp"

namespace tutti::coll {

/// How the ranks of a communicator are grouped: by the hierarchy, and as one team.
struct Trees {
    explicit Trees(topo::Hierarchy levels)
        : hierarchy(std::move(levels)), one_team(topo::Hierarchy::build(hierarchy.size(), {})) {}
    topo::Hierarchy hierarchy, one_team;
};

}   // namespace tutti::coll
