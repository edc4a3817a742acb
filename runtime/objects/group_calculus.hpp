// SPDX-License-Identifier: BSD-3-Clause
// The calculus of groups (MPI 3.1, 6.3). Every operation takes time linear in the sizes of its groups and lists.
#pragma once

#include <span>

#include "runtime/base/rank_range.hpp"
#include "runtime/objects/group.hpp"

namespace tutti {

/// How alike two groups or communicators are, from the same thing to nothing in common.
enum class Likeness { identical, congruent, similar, unequal };

/// Groups: identical (same members in the same order), similar (another order) or unequal.
Likeness compare(Group const& a, Group const& b);

/// `a`'s ranks first, then those of `b` that are not in `a`.
Ref<Group> group_union(Group const& a, Group const& b);
/// Those of `a` that are in `b`, in `a`'s order.
Ref<Group> group_intersection(Group const& a, Group const& b);
/// Those of `a` that are not in `b`, in `a`'s order.
Ref<Group> group_difference(Group const& a, Group const& b);

/// Exactly these ranks in this order. Throws Error when one is not in the group or is named twice.
Ref<Group> group_incl(Group const& of, std::span<int const> ranks);
/// All but these, in the group's order. Throws likewise.
Ref<Group> group_excl(Group const& of, std::span<int const> ranks);

/// Throws Error when a range has stride 0, points away from its end or leaves the group.
Ref<Group> group_range_incl(Group const& of, std::span<RankRange const> ranges);
Ref<Group> group_range_excl(Group const& of, std::span<RankRange const> ranges);

}   // namespace tutti
