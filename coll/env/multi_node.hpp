// SPDX-License-Identifier: BSD-3-Clause
// What a communicator over several nodes has besides: its members by node, and of those on this node a communicator of
// their own, whose collectives use shared memory. A node's master stands for it towards the others: its lowest rank,
// or the root on the root's node (Zhu, Goodell, Gropp, Thakur, EuroPVM/MPI 2009, section 3). Nodes are numbered in the
// order of their lowest ranks. All ranks here are those of the union group.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "coll/env/env.hpp"
#include "runtime/settings/cluster.hpp"
#include "runtime/objects/comm.hpp"

namespace tutti::coll {

/// Who is on which node.
class NodeMap {
public:
    NodeMap(Group const& all, Cluster const& cluster);

    int nodes() const { return static_cast<int>(members_.size()); }
    int here() const { return here_; }
    int node_of(int rank) const { return node_of_[static_cast<std::size_t>(rank)]; }
    /// Ascending.
    std::span<int const> members(int node) const { return members_[static_cast<std::size_t>(node)]; }
    int count(int node) const { return static_cast<int>(members(node).size()); }
    /// A rank's place among the members of its node.
    int index_of(int rank) const { return index_of_[static_cast<std::size_t>(rank)]; }
    /// Who stands for a node in an operation with this root (−1: none).
    int master(int node, int root = -1) const {
        return root >= 0 && node_of(root) == node ? root : members(node).front();
    }
    std::vector<int> masters(int root = -1) const {
        std::vector<int> all;
        for (int n = 0; n < nodes(); ++n) all.push_back(master(n, root));
        return all;
    }
    /// Does every node hold consecutive ranks?
    bool consecutive() const {
        return std::ranges::all_of(members_, [](std::vector<int> const& m) {
            return m.back() - m.front() + 1 == static_cast<int>(m.size());
        });
    }
    /// Of the node with the most members.
    int largest() const {
        return static_cast<int>(std::ranges::max(members_, {}, [](auto const& m) { return m.size(); }).size());
    }
    int smallest() const {
        return static_cast<int>(std::ranges::min(members_, {}, [](auto const& m) { return m.size(); }).size());
    }
    bool even() const {
        return std::ranges::all_of(members_, [&](auto const& m) { return m.size() == members_.front().size(); });
    }

private:
    std::vector<std::vector<int>> members_;
    std::vector<int> node_of_, index_of_;
    int here_ = 0;
};

struct MultiNode {
    MultiNode(Ref<Comm> part, NodeMap who)
        : node(std::move(part)), map(std::move(who)), masters(topo::Hierarchy::build(map.nodes(), {})) {}

    Ref<Comm> node;              ///< the members on this node
    NodeMap map;
    Trees masters;               ///< one team of as many ranks as there are nodes
};

}  // namespace tutti::coll
