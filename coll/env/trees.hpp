// SPDX-License-Identifier: BSD-3-Clause
// The hierarchies of a communicator that algorithms use, and its ranks by node.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "runtime/wait/task.hpp"
#include "topo/hierarchy.hpp"

namespace tutti::coll {

/// The ranks of a communicator by node or by socket. Parts are numbered in the order of their lowest ranks. The lowest
/// rank of a node is its master, the only rank that communicates with other nodes; in an operation with a root, the
/// root may be the master of its node. Zhu, Goodell, Gropp, Thakur, "Hierarchical collectives in MPICH2", EuroPVM/MPI
/// 2009, section 3.
class Partition {
public:
    /// Divides the ranks by the subtrees under the members of the hierarchy's outermost team, regardless of the levels
    /// inside. With a single level, all ranks are equally near and form one part.
    explicit Partition(topo::Hierarchy const& tree);

    int count() const { return static_cast<int>(members_.size()); }
    /// The part that contains a rank, and the rank's index in it.
    int part_of(int rank) const { return part_of_[static_cast<std::size_t>(rank)]; }
    int index_of(int rank) const { return index_of_[static_cast<std::size_t>(rank)]; }
    /// The ranks of a part, ascending.
    std::span<int const> members(int part) const { return members_[static_cast<std::size_t>(part)]; }
    int size(int part) const { return static_cast<int>(members(part).size()); }
    /// Returns the master of a part in an operation with this root (−1: none).
    int master(int part, int root = -1) const {
        return root >= 0 && part_of(root) == part ? root : members(part).front();
    }
    /// Returns the masters of all parts, in the order of the parts.
    PooledVector<int> masters(FramePool& frames, int root = -1) const {
        PooledVector<int> all(frames);
        all.reserve(members_.size());
        for (int part = 0; part < count(); ++part) all.push_back(master(part, root));
        return all;
    }
    /// True if every part consists of consecutive ranks.
    bool is_consecutive() const {
        return std::ranges::all_of(
            members_, [](std::vector<int> const& m) { return m.back() - m.front() + 1 == static_cast<int>(m.size()); });
    }
    /// Number of ranks in the largest and in the smallest part.
    int largest() const { return static_cast<int>(std::ranges::max_element(members_, {}, ranks)->size()); }
    int smallest() const { return static_cast<int>(std::ranges::min_element(members_, {}, ranks)->size()); }
    bool has_equal_sizes() const { return largest() == smallest(); }

protected:
    Partition() = default;
    void add(int part, int rank);   ///< adds the next rank; `part` may be a new one

private:
    static std::size_t ranks(std::vector<int> const& part) { return part.size(); }

    std::vector<std::vector<int>> members_;
    std::vector<int> part_of_, index_of_;
};

/// How the ranks of a communicator are grouped: by the hierarchy, as one team, and by node.
struct Trees {
    /// `same_everywhere` false: other ranks see other levels.
    explicit Trees(topo::Hierarchy levels, bool same_everywhere = true)
        : hierarchy(std::move(levels)), one_team(topo::Hierarchy::build(hierarchy.size(), {})), nodes(hierarchy),
          same_everywhere_(same_everywhere) {}

    /// True if all ranks know that every team consists of consecutive ranks (Hierarchy::consecutive).
    bool consecutive() const { return same_everywhere_ && hierarchy.consecutive(); }

    topo::Hierarchy hierarchy, one_team;
    Partition nodes;   ///< by the outermost level of the hierarchy; between nodes, by node unless it is flat

private:
    bool same_everywhere_;
};

}   // namespace tutti::coll
