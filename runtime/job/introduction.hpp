// SPDX-License-Identifier: BSD-3-Clause
// What a rank tells the others about itself where no launcher of ours has seen them all, and what all ranks' words
// together say: who shares a node, where everybody is, how many cores there are.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/memory_file.hpp"
#include "runtime/settings/cluster.hpp"
#include "topo/machine/machine.hpp"

namespace tutti {

struct Introduction {
    std::string realm;                    ///< ranks of equal realms can share memory; see realm_of
    std::string name;                     ///< of its node, for people
    std::vector<int> units;               ///< the processing units that it may run on
    std::uint16_t port = 0;               ///< on which it listens; 0: it does not
    std::vector<std::string> addresses;   ///< of its node, as Cluster::Node has them
    ArenaWindow arena;                    ///< its own, for the ranks of its node

    /// One line. from_text takes anything and refuses what to_text has not written with a sentence.
    std::string to_text() const;
    static topo::Result<Introduction> from_text(std::string_view text);
};

/// For `first_rank`, the lowest one that was started on this node, and this process: which memory it sees.
/// Ranks in containers of their own may share a machine and yet not be able to open each other's memory; they are then
/// nodes of their own, and messages between them go over the network.
std::string realm_of(int first_rank);

/// The node of each rank, counted from 0 in the order of their lowest ranks.
std::vector<int> nodes_of(std::vector<Introduction> const& all);

/// The map for the node `here`; one node when all ranks are on it. A node is known by its lowest rank's name and
/// addresses.
Cluster cluster_of(std::vector<Introduction> const& all, int here, JobKey const& key);

/// The processing units of a node's ranks, ascending, each once.
std::vector<int> units_of(std::vector<Introduction> const& on_node);
/// Where they are on a machine that has all these units, in the order of their places. They stay there if none may
/// leave its core.
topo::Placement placement_of(std::vector<Introduction> const& on_node, topo::Machine const& machine);

}   // namespace tutti
