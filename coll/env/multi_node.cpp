// SPDX-License-Identifier: BSD-3-Clause
#include "coll/env/multi_node.hpp"

namespace tutti::coll {

NodeMap::NodeMap(Group const& all, Cluster const& cluster) {
    std::vector<int> number(static_cast<std::size_t>(cluster.nodes()), -1);
    for (int r = 0; r < all.size(); ++r) {
        int& n = number[static_cast<std::size_t>(cluster.node_of(all.world_rank(r)))];
        if (n < 0) {
            n = nodes();
            members_.emplace_back();
        }
        auto& members = members_[static_cast<std::size_t>(n)];
        node_of_.push_back(n);
        index_of_.push_back(static_cast<int>(members.size()));
        members.push_back(r);
    }
    here_ = number[static_cast<std::size_t>(cluster.here())];
}

}  // namespace tutti::coll
