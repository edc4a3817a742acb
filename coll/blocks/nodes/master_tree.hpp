// SPDX-License-Identifier: BSD-3-Clause
// The tree along which ranks with a master per node combine and broadcast: binomial inside of a node, up to its master,
// and among masters as asked. In rank order where nodes hold consecutive ranks and node 0 is at the top: a master's
// own, then its node's, then those of the nodes below it in the tree, which come later.
// Zhu, Goodell, Gropp, Thakur, "Hierarchical collectives in MPICH2", EuroPVM/MPI 2009, section 3.2.
#pragma once

#include "coll/blocks/trees/tree_place.hpp"
#include "coll/env/division.hpp"

namespace tutti::coll {

/// Inside of its node; a master has no parent there.
inline TreePlace place_in_node(FramePool& frames, Division const& nodes, int rank) {
    std::span<int const> const node = nodes.members(nodes.of(rank));
    return binomial_tree(frames, nodes.index_of(rank), static_cast<int>(node.size())).named([=](int place) {
        return node[static_cast<std::size_t>(place)];
    });
}

/// A node's master among masters, under that of `top`'s node, which is `top` where that matters.
inline TreePlace place_of_master(FramePool& frames, Division const& nodes, int node, int top, TreeShape shape) {
    return place_under(frames, shape, nodes.of(top), node, nodes.count()).named([&](int n) {
        return nodes.master(n, top);
    });
}

/// In the tree of all, under the master of `top_node`.
inline TreePlace place_under_master(FramePool& frames, Division const& nodes, int rank, int top_node,
                                    TreeShape between) {
    TreePlace t = place_in_node(frames, nodes, rank);
    TreePlace const b = place_of_master(frames, nodes, nodes.of(rank), nodes.master(top_node), between);
    t.depth += b.depth;
    if (t.parent >= 0) return t;
    t.parent = b.parent;
    t.children.insert(t.children.end(), b.children.begin(), b.children.end());
    return t;
}

}   // namespace tutti::coll
