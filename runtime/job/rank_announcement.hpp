// SPDX-License-Identifier: BSD-3-Clause
// What a rank announces about itself if no launcher of ours knows all ranks, and what follows from all announcements:
// which ranks share a node, where each rank runs, and how many cores there are.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/memory_file.hpp"
#include "runtime/settings/cluster.hpp"
#include "topo/machine.hpp"

namespace tutti {

struct RankAnnouncement {
    std::string realm;                    ///< ranks with equal realms can share memory; see realm_of
    std::string name;                     ///< display name of its node
    std::vector<int> units;               ///< processing units on which it may run
    std::uint16_t port = 0;               ///< its listening port; 0: none
    std::vector<std::string> addresses;   ///< of its node, as in Cluster::Node
    ArenaWindow arena;                    ///< its own arena, for the ranks of its node
    bool cma = true, xpmem = true;        ///< its settings permit these single-copy methods

    /// One line of text. from_text returns an error message for anything that to_text has not written.
    std::string to_text() const;
    static topo::Result<RankAnnouncement> from_text(std::string_view text);
};

/// Returns the realm of this process, that is, which memory it sees; `first_rank` is the lowest rank that was started
/// on this node. Ranks in separate containers may share a machine and yet be unable to open each other's memory; they
/// are then separate nodes, and messages between them go over the network. The same applies to machines with equal
/// names, which a launcher that does not number its nodes cannot distinguish.
std::string realm_of(int first_rank);

/// Returns a node name for each set of ranks that were started on one node and have several realms.
std::vector<std::string> divided_nodes(std::vector<RankAnnouncement> const& all);

/// Returns the node of each rank, numbered from 0 in the order of their lowest ranks.
std::vector<int> nodes_of(std::vector<RankAnnouncement> const& all);

/// Returns the map for the node `here`; one node if all ranks are on it. A node has its lowest rank's name and
/// addresses.
Cluster cluster_of(std::vector<RankAnnouncement> const& all, int here, JobKey const& key);

/// Returns the distinct processing units of a node's ranks, ascending.
std::vector<int> units_of(std::vector<RankAnnouncement> const& on_node);
/// Returns the placement of the ranks on a machine that has all these units, in the order of their local ranks. It is
/// fixed if no rank may leave its core.
topo::Placement placement_of(std::vector<RankAnnouncement> const& on_node, topo::Machine const& machine);

}   // namespace tutti
