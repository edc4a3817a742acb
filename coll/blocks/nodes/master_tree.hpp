// SPDX-License-Identifier: BSD-3-Clause
// The tree that reductions with a master per node combine along: binomial inside of a node, up to its master, and
// among masters as asked. In rank order where nodes hold consecutive ranks and node 0 is at the top: a master's own,
// then its node's, then those of the nodes below it in the tree, which come later.
// Zhu, Goodell, Gropp, Thakur, "Hierarchical collectives in MPICH2", EuroPVM/MPI 2009, section 3.2.
#pragma once

#include "coll/blocks/nodes/master_nodes.hpp"
#include "coll/blocks/messages/tree_flow.hpp"

namespace tutti::coll {

/// Inside of its node; a master has no parent there.
inline Position position_in_node(MasterNodes const& nodes, int rank) {
    std::span<int const> const node = nodes.ranks_with(rank);
    auto const place = std::lower_bound(node.begin(), node.end(), rank) - node.begin();
    Branch const b = binomial_branch(static_cast<int>(place), static_cast<int>(node.size()));
    Position p{.depth = b.depth};
    if (b.parent >= 0) p.parent = node[static_cast<std::size_t>(b.parent)];
    for (int child : b.children) p.after.push_back(node[static_cast<std::size_t>(child)]);
    return p;
}

/// In the tree of all, under the master of `top_node`.
inline Position position_under_master(MasterNodes const& nodes, int rank, int top_node, Branch (*between)(int, int)) {
    Position p = position_in_node(nodes, rank);
    MasterBranch const b(nodes, nodes.node_of(rank), top_node, between);
    p.depth += b.depth;
    if (p.parent >= 0) return p;
    p.parent = b.parent;
    p.after.insert(p.after.end(), b.children.begin(), b.children.end());
    return p;
}

}  // namespace tutti::coll
