// SPDX-License-Identifier: BSD-3-Clause
// The nodes of a communicator and their masters. A node is what lies under one member of the hierarchy's outermost
// team, whatever levels there are inside; if there is but one level, all ranks are equally near, which is one node. Its
// lowest rank is the master, the only one that talks to other nodes.
// Zhu, Goodell, Gropp, Thakur, "Hierarchical collectives in MPICH2", EuroPVM/MPI 2009, section 3.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "coll/blocks/trees/branch.hpp"
#include "topo/hierarchy/hierarchy.hpp"

namespace tutti::coll {

class MasterNodes {
public:
    explicit MasterNodes(topo::Hierarchy const& tree) : tree_(tree), level_(std::max(0, tree.levels() - 2)) {
        if (tree.levels() == 1) masters_.push_back(0);
        else for (int master : tree.team(tree.levels() - 1, 0).members) masters_.push_back(master);
    }

    int count() const { return static_cast<int>(masters_.size()); }
    /// In ascending order.
    std::span<int const> masters() const { return masters_; }
    int master(int node) const { return masters_[static_cast<std::size_t>(node)]; }
    /// The ranks of the node that `rank` is on, ascending: its master first.
    std::span<int const> ranks_with(int rank) const { return tree_.ranks_under(level_, rank); }
    int node_of(int rank) const {
        auto const at = std::lower_bound(masters_.begin(), masters_.end(), ranks_with(rank).front());
        return static_cast<int>(at - masters_.begin());
    }
    /// Does every node hold consecutive ranks?
    bool consecutive() const {
        return std::all_of(masters_.begin(), masters_.end(), [&](int master) {
            auto const ranks = ranks_with(master);
            return ranks.back() - ranks.front() + 1 == static_cast<int>(ranks.size());
        });
    }

private:
    topo::Hierarchy const& tree_;
    int level_;
    std::vector<int> masters_;
};

/// The tree among masters, with those of `top_node` at the top.
struct MasterBranch {
    MasterBranch(MasterNodes const& nodes, int node, int top_node, Branch (*shape)(int, int)) {
        int const n = nodes.count();
        Branch const b = shape((node - top_node + n) % n, n);
        auto at = [&](int place) { return nodes.master((place + top_node) % n); };
        depth = b.depth;
        if (b.parent >= 0) parent = at(b.parent);
        for (int place : b.children) children.push_back(at(place));
    }
    int parent = -1, depth = 0;
    std::vector<int> children;
};

}  // namespace tutti::coll
