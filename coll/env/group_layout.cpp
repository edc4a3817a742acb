// SPDX-License-Identifier: BSD-3-Clause
#include "coll/env/group_layout.hpp"

namespace tutti::coll {

NodePartition::NodePartition(Group const& all, Cluster const& cluster) {
    std::vector<int> number(static_cast<std::size_t>(cluster.nodes()), -1);
    for (int r = 0; r < all.size(); ++r) {
        int& part = number[static_cast<std::size_t>(cluster.node_of(all.world_rank(r)))];
        if (part < 0) part = count();
        add(part, r);
    }
    own_part_ = number[static_cast<std::size_t>(cluster.this_node())];
}

NodePartition::NodePartition(topo::Hierarchy const& tree, int rank) {
    int const level = std::max(0, tree.levels() - 2);
    for (int r = 0; r < tree.size(); ++r) {
        int const first = tree.ranks_under(level, r).front();
        add(first == r ? count() : part_of(first), r);
    }
    own_part_ = part_of(rank);
}

void NodePartition::add(int part, int rank) {
    if (part == count()) members_.emplace_back();
    auto& members = members_[static_cast<std::size_t>(part)];
    part_of_.push_back(part);
    index_of_.push_back(static_cast<int>(members.size()));
    members.push_back(rank);
}

}   // namespace tutti::coll
