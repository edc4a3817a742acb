// SPDX-License-Identifier: BSD-3-Clause
// A group: an ordered set of processes, each named by its world rank (MPI 3.1, 6.2.1). Immutable once made, so that
// communicators and any number of handles share one.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "runtime/objects/object.hpp"

namespace tutti {

class Group final : public Object {
public:
    /// `world_ranks[i]` is the world rank of the group's rank i; no value twice. `me`: this process's world rank.
    Group(std::vector<int> world_ranks, int me);

    int size() const { return static_cast<int>(world_ranks_.size()); }
    /// This process's rank in the group, −1 when it is not a member.
    int rank() const { return rank_; }
    /// This process's world rank, also when it is not a member.
    int me() const { return me_; }
    int world_rank(int rank) const { return world_ranks_[static_cast<std::size_t>(rank)]; }
    std::span<int const> world_ranks() const { return world_ranks_; }
    /// The group's rank of a world rank, −1 when it is not a member; O(1) after the first call.
    int rank_of(int world_rank) const;

private:
    std::vector<int> world_ranks_;
    int me_ = -1;
    int rank_ = -1;
    mutable std::vector<int> ranks_;   ///< world rank → rank, −1: none; filled on first use
};

}   // namespace tutti
