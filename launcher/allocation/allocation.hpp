// SPDX-License-Identifier: BSD-3-Clause
// Which rank runs on which node.
#pragma once

#include <string>
#include <vector>

#include "launcher/base/job.hpp"

namespace tutti::launcher {

struct Allocation {
    std::vector<std::string> nodes;   ///< as they were named; only those that get ranks, in the order of their first
    std::vector<int> node_of;         ///< by world rank
    int here = -1;                    ///< this launcher's node; −1: it has no rank

    bool alone() const { return nodes.size() == 1 && here == 0; }
    std::string const& host() const { return nodes[static_cast<std::size_t>(here)]; }
    /// World ranks on a node, ascending: a rank's place there is its index in this list.
    std::vector<int> ranks_on(int node) const;
};

/// Fills the slots of each host in turn, and begins again when there are more ranks than slots; with --map-by node
/// deals ranks out one by one. A host without slots has one; -ppn counts in their place. Each program goes to its own
/// hosts if it names some. With --rank-by node the ranks of each program are numbered across its nodes. A rank file
/// says it for each rank in the place of all that. `own` is this host's name. Throws Complaint when hosts may have no
/// more (max-slots, --nooversubscribe).
Allocation allocate(Job const& job, std::string const& own);

/// Slots of all hosts together, for a job that does not say how many ranks it wants; at least 1.
int slots_of_all(std::vector<Host> const& hosts, int per_node, std::string const& own);

template <class A>
void members(A& a, Allocation& allocation) {
    a(allocation.nodes, allocation.node_of, allocation.here);
}

}   // namespace tutti::launcher
