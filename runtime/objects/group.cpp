// SPDX-License-Identifier: BSD-3-Clause
// Group construction, look-up and set operations.
#include "runtime/objects/group.hpp"

#include <algorithm>
#include <cstdlib>

#include "runtime/base/error.hpp"

namespace tutti {

Group::Group(std::vector<int> world_ranks, int me) : world_ranks_(std::move(world_ranks)), me_(me) {
    auto mine = std::find(world_ranks_.begin(), world_ranks_.end(), me);
    if (mine != world_ranks_.end()) rank_ = static_cast<int>(mine - world_ranks_.begin());
}

int Group::rank_of(int world_rank) const {
    if (ranks_.empty() && !world_ranks_.empty()) {
        ranks_.assign(static_cast<std::size_t>(*std::max_element(world_ranks_.begin(), world_ranks_.end())) + 1, -1);
        for (int r = 0; r < size(); ++r) ranks_[static_cast<std::size_t>(world_ranks_[r])] = r;
    }
    bool known = world_rank >= 0 && world_rank < static_cast<int>(ranks_.size());
    return known ? ranks_[static_cast<std::size_t>(world_rank)] : -1;
}


namespace {

Ref<Group> make(std::vector<int> world_ranks, Group const& like) {
    return Ref<Group>::adopt(new Group(std::move(world_ranks), like.me()));
}

/// Returns the members of `a` that are in `b`, or those that are not.
std::vector<int> filtered(Group const& a, Group const& b, bool in_b) {
    std::vector<int> kept;
    for (int world : a.world_ranks())
        if ((b.rank_of(world) >= 0) == in_b) kept.push_back(world);
    return kept;
}

/// Returns one mark per rank of the group, set for the listed ranks; throws Error if a rank is invalid or listed twice.
std::vector<bool> marked(Group const& of, std::span<int const> ranks) {
    std::vector<bool> marks(static_cast<std::size_t>(of.size()));
    for (int rank : ranks) {
        if (rank < 0 || rank >= of.size())
            fail(ErrorClass::rank, "ranks contains ", rank, " but the group has ", of.size(), " ranks");
        if (marks[static_cast<std::size_t>(rank)])
            throw Error(ErrorClass::rank, join("ranks contains ", rank, " twice")).with_help("name each rank once");
        marks[static_cast<std::size_t>(rank)] = true;
    }
    return marks;
}

void check(Group const& of, RankRange range) {
    auto [first, last, stride] = range;
    std::string text = join("the range (", first, ", ", last, ", ", stride, ")");
    if (stride == 0) fail(ErrorClass::arg, text, " has stride 0");
    if (first < 0 || first >= of.size())
        fail(ErrorClass::rank, text, " starts outside the group, which has ", of.size(), " ranks");
    if (last != first && (last > first) != (stride > 0)) fail(ErrorClass::arg, text, " has a stride of the wrong sign");
    long steps = (static_cast<long>(last) - first) / stride, end = first + steps * stride;
    if (end < 0 || end >= of.size()) fail(ErrorClass::rank, text, " leaves the group, which has ", of.size(), " ranks");
}

std::vector<int> expanded(Group const& of, std::span<RankRange const> ranges) {
    std::vector<int> ranks;
    for (RankRange range : ranges) {
        check(of, range);
        long steps = (static_cast<long>(range.last) - range.first) / range.stride;
        if (ranks.size() + static_cast<std::size_t>(steps) >= static_cast<std::size_t>(of.size()))
            fail(ErrorClass::rank,
                 "the ranges contain more ranks than the group has, so at least one rank is repeated");
        for (long i = 0; i <= steps; ++i) ranks.push_back(static_cast<int>(range.first + i * range.stride));
    }
    return ranks;
}

}   // namespace

GroupComparison compare(Group const& a, Group const& b) {
    if (a.size() != b.size()) return GroupComparison::unequal;
    if (std::ranges::equal(a.world_ranks(), b.world_ranks())) return GroupComparison::identical;
    bool same_members = std::ranges::all_of(a.world_ranks(), [&](int world) { return b.rank_of(world) >= 0; });
    return same_members ? GroupComparison::similar : GroupComparison::unequal;
}

Ref<Group> group_union(Group const& a, Group const& b) {
    std::vector<int> all(a.world_ranks().begin(), a.world_ranks().end()), more = filtered(b, a, false);
    all.insert(all.end(), more.begin(), more.end());
    return make(std::move(all), a);
}

Ref<Group> group_intersection(Group const& a, Group const& b) { return make(filtered(a, b, true), a); }

Ref<Group> group_difference(Group const& a, Group const& b) { return make(filtered(a, b, false), a); }

Ref<Group> group_incl(Group const& of, std::span<int const> ranks) {
    marked(of, ranks);   // only for the checks
    std::vector<int> chosen;
    chosen.reserve(ranks.size());
    for (int rank : ranks) chosen.push_back(of.world_rank(rank));
    return make(std::move(chosen), of);
}

Ref<Group> group_excl(Group const& of, std::span<int const> ranks) {
    std::vector<bool> marks = marked(of, ranks);
    std::vector<int> chosen;
    for (int rank = 0; rank < of.size(); ++rank)
        if (!marks[static_cast<std::size_t>(rank)]) chosen.push_back(of.world_rank(rank));
    return make(std::move(chosen), of);
}

Ref<Group> group_range_incl(Group const& of, std::span<RankRange const> ranges) {
    return group_incl(of, expanded(of, ranges));
}

Ref<Group> group_range_excl(Group const& of, std::span<RankRange const> ranges) {
    return group_excl(of, expanded(of, ranges));
}

}   // namespace tutti
