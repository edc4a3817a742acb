// SPDX-License-Identifier: BSD-3-Clause
// The ranks of a communicator by node, or by socket: parts that are numbered in the order of their lowest ranks. The
// lowest rank of a node is its master, the only one that talks to other nodes; in an operation with a root that is, on
// its node, the root. Zhu, Goodell, Gropp, Thakur, "Hierarchical collectives in MPICH2", EuroPVM/MPI 2009, section 3.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "runtime/objects/group.hpp"
#include "runtime/settings/cluster.hpp"
#include "runtime/wait/pooled.hpp"
#include "topo/hierarchy/hierarchy.hpp"

namespace tutti::coll {

class Division {
public:
    /// By the nodes that ranks run on.
    Division(Group const& all, Cluster const& cluster);
    /// By what lies under the members of a hierarchy's outermost team, whatever levels there are inside, as `rank` sees
    /// it; where there is but one level, all ranks are equally near: one part.
    Division(topo::Hierarchy const& tree, int rank);

    int count() const { return static_cast<int>(members_.size()); }
    int mine() const { return mine_; }   ///< the part that this rank is in
    /// The part that a rank is in, and its place there.
    int of(int rank) const { return part_of_[static_cast<std::size_t>(rank)]; }
    int index_of(int rank) const { return index_of_[static_cast<std::size_t>(rank)]; }
    /// Ascending.
    std::span<int const> members(int part) const { return members_[static_cast<std::size_t>(part)]; }
    std::span<int const> members() const { return members(mine_); }
    int size(int part) const { return static_cast<int>(members(part).size()); }
    /// Who stands for a part in an operation with this root (−1: none).
    int master(int part, int root = -1) const { return root >= 0 && of(root) == part ? root : members(part).front(); }
    PooledVector<int> masters(FramePool& frames, int root = -1) const {
        PooledVector<int> all(frames);
        all.reserve(members_.size());
        for (int part = 0; part < count(); ++part) all.push_back(master(part, root));
        return all;
    }
    /// Does every part hold consecutive ranks?
    bool consecutive() const {
        return std::ranges::all_of(
            members_, [](std::vector<int> const& m) { return m.back() - m.front() + 1 == static_cast<int>(m.size()); });
    }
    /// Members of the largest part and of the smallest.
    int largest() const { return static_cast<int>(std::ranges::max_element(members_, {}, ranks)->size()); }
    int smallest() const { return static_cast<int>(std::ranges::min_element(members_, {}, ranks)->size()); }
    bool even() const { return largest() == smallest(); }

private:
    static std::size_t ranks(std::vector<int> const& part) { return part.size(); }
    void add(int part, int rank);   ///< the next rank; `part` may be a new one

    std::vector<std::vector<int>> members_;
    std::vector<int> part_of_, index_of_;
    int mine_ = 0;
};

}   // namespace tutti::coll
