// SPDX-License-Identifier: BSD-3-Clause
// Trees: a rank's parent and children, and the flag by which a leader signals its teams. Shapes are trees over the
// virtual ranks 0 … n − 1 (vranks: indices in a list of ranks), with vrank 0 at the top. In all shapes except the tree
// of groups, the vranks below a child are consecutive, so that own operand first, then the children's, is their order.
// Rotating the list puts another rank at the top. Along the hierarchy, the parent of a rank is the leader of a team.
#pragma once

#include <algorithm>
#include <vector>

#include "coll/env/env.hpp"
#include "runtime/wait/task.hpp"
#include "topo/hierarchy.hpp"

namespace tutti::coll {

struct TreePosition {
    explicit TreePosition(FramePool& frames) : children(frames), before(frames) {}

    int parent = -1;              ///< −1 at the top
    int depth = 0;                ///< steps down from the top
    PooledVector<int> children;   ///< ascending in shapes
    PooledVector<int> before;     ///< ascending: further children, whose operands precede this rank's own

    bool leaf() const { return children.empty() && before.empty(); }

    /// The same position with other numbers.
    template <class Number>
    TreePosition renumbered(Number number) && {
        if (parent >= 0) parent = number(parent);
        for (auto* list : {&children, &before})
            for (int& child : *list) child = number(child);
        return std::move(*this);
    }
};

/// Returns the parent and children of `vrank`, out of n, in a tree of some shape.
using TreeShape = TreePosition (*)(FramePool& frames, int vrank, int n);

/// The parent of vrank i is i without its lowest set bit; ⌈log2 n⌉ steps from end to end, and as many children at the
/// top.
inline TreePosition binomial_tree(FramePool& frames, int vrank, int n) {
    TreePosition t(frames);
    int const lowest = vrank & -vrank;
    if (vrank > 0) t.parent = vrank - lowest;
    for (int rest = vrank; rest > 0; rest &= rest - 1) ++t.depth;
    for (int bit = 1; (vrank == 0 || bit < lowest) && bit < n - vrank; bit *= 2) t.children.push_back(vrank + bit);
    return t;
}

/// Each vrank has at most `degree` children; the vranks below it are divided among them in consecutive parts, longer
/// ones first, and each part follows its child.
inline TreePosition n_ary_tree(FramePool& frames, int vrank, int n, int degree) {
    TreePosition t(frames);
    for (int top = 0;; ++t.depth) {
        int const children = std::min(std::max(1, degree), n - 1);   // of `top`, which has n − 1 vranks below it
        int const each = children > 0 ? (n - 1) / children : 0, longer = children > 0 ? (n - 1) % children : 0;
        auto const child = [&](int i) { return top + 1 + i * each + std::min(i, longer); };
        if (vrank == top) {
            for (int i = 0; i < children; ++i) t.children.push_back(child(i));
            return t;
        }
        int i = 0;
        while (child(i + 1) <= vrank) ++i;
        t.parent = top;
        n = child(i + 1) - child(i);
        top = child(i);
    }
}

/// At most two children each, in ⌊log2 n⌋ steps: the first half of the vranks below follows its child, then the second
/// half.
inline TreePosition binary_tree(FramePool& frames, int vrank, int n) { return n_ary_tree(frames, vrank, n, 2); }

/// A chain.
inline TreePosition chain_tree(FramePool& frames, int vrank, int n) { return n_ary_tree(frames, vrank, n, 1); }

/// All vranks directly below the top.
inline TreePosition star_tree(FramePool& frames, int vrank, int n) { return n_ary_tree(frames, vrank, n, n - 1); }

/// The first of `group` consecutive vranks is the parent of the others; the first of `group` such parents is again the
/// parent of the others, and so on. Children are in the order of the steps: their operands, one after the other, are in
/// the order of vranks.
inline TreePosition tree_of_groups(FramePool& frames, int vrank, int n, int group) {
    TreePosition t(frames);
    for (int step = 1; step < n; step *= group) {
        int const first = vrank - vrank % (step * group);
        if (first != vrank) {
            t.parent = first;
            break;
        }
        for (int child = vrank + step; child < std::min(n, vrank + step * group); child += step)
            t.children.push_back(child);
    }
    return t;
}

/// A rank's position in a tree over n ranks in a circle, with rank `top` at the top.
inline TreePosition position_under(FramePool& frames, TreeShape shape, int top, int rank, int n) {
    return shape(frames, (rank - top + n) % n, n).renumbered([=](int vrank) { return (vrank + top) % n; });
}

/// Returns the leader of the outermost team in which a rank participates; −1: the rank itself. `root` as in
/// Hierarchy::team.
inline int leader_of(topo::Hierarchy const& tree, int rank, int root) {
    int const leader = tree.team(tree.levels_of(rank, root) - 1, rank, root).leader;
    return leader == rank ? -1 : leader;
}

/// The position of a rank that leads the teams of its innermost levels and is a member of the team of the next level.
struct LeaderPosition : TreePosition {
    using TreePosition::TreePosition;
    int level = 0;   ///< the outermost level in which it participates: it is a member there, or leads all ranks
    int led_levels() const {
        return parent < 0 ? level + 1 : level;
    }   ///< levels on which it leads: 0 … led_levels() − 1
};

/// The number of members, other than the rank itself, in the teams that a rank leads on levels 0 … `levels` − 1.
inline std::size_t child_count_in_hierarchy(topo::Hierarchy const& tree, int rank, int root, int levels) {
    std::size_t children = 0;
    for (int level = 0; level < levels; ++level)
        children += static_cast<std::size_t>(tree.team(level, rank, root).members.size() - 1);
    return children;
}

/// The children are the members of the teams that the rank leads, innermost first.
inline LeaderPosition position_in_hierarchy(FramePool& frames, topo::Hierarchy const& tree, int rank, int root) {
    LeaderPosition t(frames);
    t.level = tree.levels_of(rank, root) - 1;
    t.parent = leader_of(tree, rank, root);
    t.children.reserve(child_count_in_hierarchy(tree, rank, root, t.led_levels()));
    for (int level = 0; level < t.led_levels(); ++level)
        for (int member : tree.team(level, rank, root).members)
            if (member != rank) t.children.push_back(member);
    return t;
}

// The flag by which a leader signals its teams how far they may proceed, in one of three layouts: one word per team
// that all members poll; one word per member, eight on a cache line; one line per member. XHC compares them in section
// V.D.1, Fig. 10. An announcement stores one word per team, or one per member; the leader is the only writer in all
// layouts.
//
// Everything that a leader has written before it announces, including its exposures, is visible to a member that sees
// the step (release and acquire on that word), so members need no other flag of their leader.
//
// With `atomic`, announcements are those of `one`, and members acknowledge by atomic additions to one word of their
// leader (PulledBroadcast); XHC compares that in section III.E, Fig. 4.

enum class FlagLayout : std::size_t { one, packed, apart, atomic };
inline constexpr Parameter flags_parameter = {
    "flags", 0, "a leader's flag: one word per team, a packed word per member, or a cache line per member",
    ParameterKind::keyword, "one|packed|apart"};

/// Converts between bytes and steps of a counter. Steps below `first` are for what precedes the data.
class ByteSteps {
public:
    static constexpr std::uint64_t first = 16;

    /// Positions must be multiples of `grain` bytes, or the end.
    ByteSteps(std::size_t total, std::size_t grain) : total_(total), unit_(grain) {}
    std::size_t unit() const { return unit_; }
    /// The step that signals that all bytes before this position are available.
    std::uint64_t step(std::size_t position) const { return first + (position + unit_ - 1) / unit_; }
    std::size_t position(std::uint64_t step) const {
        return step <= first ? 0 : std::min(total_, (step - first) * unit_);
    }
    /// A chunk of about `requested` bytes: whole units, at least one.
    std::size_t chunk(std::size_t requested) const { return std::max<std::size_t>(1, requested / unit_) * unit_; }

private:
    std::size_t total_, unit_;
};

template <class Env>
class LeaderFlag {
public:
    /// `root` as in Hierarchy::team.
    LeaderFlag(Env& env, topo::Hierarchy const& tree, int root, FlagLayout layout)
        : env_(env), layout_(layout), position_(position_in_hierarchy(env.frames(), tree, env.rank(), root)) {
        first_.push_back(0);
        for (int level = 0; level < led_levels(); ++level)
            first_.push_back(child_count_in_hierarchy(tree, env.rank(), root, level + 1));
        if (parent() < 0) return;
        topo::Team const mine = tree.team(level(), env.rank(), root);
        index_ = mine.my_index - (mine.my_index > mine.leader_index ? 1 : 0) +
                 static_cast<int>(child_count_in_hierarchy(tree, parent(), root, level()));
        grandparent_ = leader_of(tree, parent(), root);
    }

    /// The level at which this rank is a member, and its leader there; −1: it leads all ranks.
    int level() const { return position_.level; }
    int parent() const { return position_.parent; }
    FlagLayout layout() const { return layout_; }
    /// The number of levels that this rank leads: 0 … led_levels() − 1.
    int led_levels() const { return position_.led_levels(); }
    /// The members of the teams that this rank leads, innermost first.
    PooledVector<int> const& children() const { return position_.children; }

    void announce(std::uint64_t step) {
        for (int level = 0; level < led_levels(); ++level) announce(level, step);
    }
    /// Announces to the team of one level.
    void announce(int level, std::uint64_t step) {
        if (is_per_team()) return env_.ready(level, step);
        auto const l = static_cast<std::size_t>(level);
        for (std::size_t k = first_[l]; k < first_[l + 1]; ++k) {
            if (layout_ == FlagLayout::packed) env_.signal(word_index(static_cast<int>(k), parent()), step);
            else env_.notify(position_.children[k], step);
        }
    }
    /// Waits for the leader.
    auto until(std::uint64_t step) {
        if (is_per_team()) return env_.until_ready(parent(), level(), step);
        if (layout_ == FlagLayout::packed)
            return env_.until_signalled(parent(), word_index(index_, grandparent_), step);
        return env_.until_notified(parent(), step);
    }
    std::uint64_t seen() const {
        if (is_per_team()) return env_.ready_of(parent(), level());
        if (layout_ == FlagLayout::packed) return env_.signalled_by(parent(), word_index(index_, grandparent_));
        return env_.notified();
    }

private:
    bool is_per_team() const { return layout_ == FlagLayout::one || layout_ == FlagLayout::atomic; }
    /// The word of child number k. The word that a leader uses in `sent` for its own leader has another purpose and is
    /// skipped. There are enough words: such a leader has a leader of its own, hence at most size − 2 children.
    static int word_index(int k, int parent_of_leader) {
        return parent_of_leader >= 0 && k >= parent_of_leader ? k + 1 : k;
    }

    Env& env_;
    FlagLayout layout_;
    LeaderPosition position_;
    int grandparent_ = -1, index_ = 0;
    std::vector<std::size_t> first_;   ///< for each led level: index of its first member among the children
};

}   // namespace tutti::coll
