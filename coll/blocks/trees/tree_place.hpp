// SPDX-License-Identifier: BSD-3-Clause
// Where one rank is in a tree: below its parent, above its children. Shapes are trees over the places 0 … n − 1 of a
// list of ranks, place 0 at the top. In all of them but the tree of groups the places under a child follow each other,
// so that own operand first, then the children's, is the order of places. Turning the list round puts another rank at
// the top. Along the hierarchy each rank has the leader of a team above it.
#pragma once

#include <algorithm>

#include "runtime/wait/pooled.hpp"
#include "topo/hierarchy/hierarchy.hpp"

namespace tutti::coll {

struct TreePlace {
    explicit TreePlace(FramePool& frames) : children(frames), before(frames) {}

    int parent = -1;              ///< −1 at the top
    int depth = 0;                ///< steps down from the top
    PooledVector<int> children;   ///< ascending in shapes
    PooledVector<int> before;     ///< ascending: further children, whose operands come before this rank's own

    bool leaf() const { return children.empty() && before.empty(); }

    /// The same place by other numbers.
    template <class Number>
    TreePlace named(Number number) && {
        if (parent >= 0) parent = number(parent);
        for (auto* list : {&children, &before})
            for (int& child : *list) child = number(child);
        return std::move(*this);
    }
};

/// What the place `place` of n has in a tree of some shape.
using TreeShape = TreePlace (*)(FramePool& frames, int place, int n);

/// Place i is below i without its lowest bit; ⌈log2 n⌉ steps from end to end, and as many children at the top.
inline TreePlace binomial_tree(FramePool& frames, int place, int n) {
    TreePlace t(frames);
    int const lowest = place & -place;
    if (place > 0) t.parent = place - lowest;
    for (int rest = place; rest > 0; rest &= rest - 1) ++t.depth;
    for (int bit = 1; (place == 0 || bit < lowest) && bit < n - place; bit *= 2) t.children.push_back(place + bit);
    return t;
}

/// At most `degree` children each; those below are shared out among them in consecutive parts, longer ones first, and
/// each part follows its child.
inline TreePlace n_ary_tree(FramePool& frames, int place, int n, int degree) {
    TreePlace t(frames);
    for (int top = 0;; ++t.depth) {
        int const children = std::min(std::max(1, degree), n - 1);   // of `top`, which has n − 1 places below it
        int const each = children > 0 ? (n - 1) / children : 0, longer = children > 0 ? (n - 1) % children : 0;
        auto const child = [&](int i) { return top + 1 + i * each + std::min(i, longer); };
        if (place == top) {
            for (int i = 0; i < children; ++i) t.children.push_back(child(i));
            return t;
        }
        int i = 0;
        while (child(i + 1) <= place) ++i;
        t.parent = top;
        n = child(i + 1) - child(i);
        top = child(i);
    }
}

/// At most two children each, in ⌊log2 n⌋ steps: the first half of those below follows its child, then the second.
inline TreePlace binary_tree(FramePool& frames, int place, int n) { return n_ary_tree(frames, place, n, 2); }

/// A line.
inline TreePlace chain_tree(FramePool& frames, int place, int n) { return n_ary_tree(frames, place, n, 1); }

/// Everybody directly below the top.
inline TreePlace star_tree(FramePool& frames, int place, int n) { return n_ary_tree(frames, place, n, n - 1); }

/// Of `group` places in a row the first is the parent of the others, of `group` such parents the first again, and so
/// on. The children are in the order of the steps: their operands, one after the other, are in the order of places.
inline TreePlace tree_of_groups(FramePool& frames, int place, int n, int group) {
    TreePlace t(frames);
    for (int step = 1; step < n; step *= group) {
        int const first = place - place % (step * group);
        if (first != place) {
            t.parent = first;
            break;
        }
        for (int child = place + step; child < std::min(n, place + step * group); child += step)
            t.children.push_back(child);
    }
    return t;
}

/// A rank's place in a tree over n ranks in a circle, with `top` at the top.
inline TreePlace place_under(FramePool& frames, TreeShape shape, int top, int rank, int n) {
    return shape(frames, (rank - top + n) % n, n).named([=](int place) { return (place + top) % n; });
}

/// Who leads the outermost team in which a rank takes part, −1: itself. `root` as in Hierarchy::team.
inline int leader_of(topo::Hierarchy const& tree, int rank, int root) {
    int const leader = tree.team(tree.levels_of(rank, root) - 1, rank, root).leader;
    return leader == rank ? -1 : leader;
}

/// The place of a rank that leads the teams of its innermost levels and is a member of the next one's.
struct LeaderPlace : TreePlace {
    using TreePlace::TreePlace;
    int level = 0;   ///< the outermost in which it takes part: there it is a member, or leads all
    int led() const { return parent < 0 ? level + 1 : level; }   ///< levels on which it leads: 0 … led() − 1
};

/// How many members the teams have that a rank leads on levels 0 … `levels` − 1.
inline std::size_t children_in_hierarchy(topo::Hierarchy const& tree, int rank, int root, int levels) {
    std::size_t children = 0;
    for (int level = 0; level < levels; ++level)
        children += static_cast<std::size_t>(tree.team(level, rank, root).members.size() - 1);
    return children;
}

/// Children: the members of the teams that it leads, innermost first.
inline LeaderPlace place_in_hierarchy(FramePool& frames, topo::Hierarchy const& tree, int rank, int root) {
    LeaderPlace t(frames);
    t.level = tree.levels_of(rank, root) - 1;
    t.parent = leader_of(tree, rank, root);
    t.children.reserve(children_in_hierarchy(tree, rank, root, t.led()));
    for (int level = 0; level < t.led(); ++level)
        for (int member : tree.team(level, rank, root).members)
            if (member != rank) t.children.push_back(member);
    return t;
}

}   // namespace tutti::coll
