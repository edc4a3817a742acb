// SPDX-License-Identifier: BSD-3-Clause
// Groups: ordered sets of processes, each identified by its world rank (MPI 3.1, 6.2.1), and their set operations. A
// group is immutable, so communicators and any number of handles may share it.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "runtime/objects/object.hpp"
#include "runtime/state/call_record.hpp"

namespace tutti {

class Group final : public Object {
public:
    /// `world_ranks[i]` is the world rank of the group's rank i; values must be distinct. `me`: this process's world
    /// rank.
    Group(std::vector<int> world_ranks, int me);

    int size() const { return static_cast<int>(world_ranks_.size()); }
    /// Returns this process's rank in the group, or −1 if it is not a member.
    int rank() const { return rank_; }
    /// Returns this process's world rank, even if it is not a member.
    int me() const { return me_; }
    int world_rank(int rank) const { return world_ranks_[static_cast<std::size_t>(rank)]; }
    std::span<int const> world_ranks() const { return world_ranks_; }
    /// Returns the group's rank of a world rank, or −1 if it is not a member. O(1) after the first call.
    int rank_of(int world_rank) const;

private:
    std::vector<int> world_ranks_;
    int me_ = -1;
    int rank_ = -1;
    mutable std::vector<int> ranks_;   ///< rank by world rank, −1: not a member; filled on first use
};

// Group operations (MPI 3.1, 6.3). Each takes time linear in the sizes of its groups and lists.

/// Results of comparing two groups or communicators.
enum class GroupComparison { identical, congruent, similar, unequal };

/// Compares groups: identical (same members in the same order), similar (same members in another order) or unequal.
GroupComparison compare(Group const& a, Group const& b);

/// Returns the members of `a`, followed by those of `b` that are not in `a`.
Ref<Group> group_union(Group const& a, Group const& b);
/// Returns the members of `a` that are also in `b`, in `a`'s order.
Ref<Group> group_intersection(Group const& a, Group const& b);
/// Returns the members of `a` that are not in `b`, in `a`'s order.
Ref<Group> group_difference(Group const& a, Group const& b);

/// Returns the members with exactly these ranks in this order. Throws Error if a rank is not in the group or is listed
/// twice.
Ref<Group> group_incl(Group const& of, std::span<int const> ranks);
/// Returns all other members in the group's order. Throws Error in the same cases.
Ref<Group> group_excl(Group const& of, std::span<int const> ranks);

/// As group_incl and group_excl. Throw Error also if a range has stride 0, leads away from its end or leaves the group.
Ref<Group> group_range_incl(Group const& of, std::span<RankRange const> ranges);
Ref<Group> group_range_excl(Group const& of, std::span<RankRange const> ranges);

}   // namespace tutti
