// SPDX-License-Identifier: BSD-3-Clause
// The flag by which a leader tells its teams how far they may go, in one of three layouts: one word per team that all
// members poll; one word per member, eight on a line; one line per member. XHC compares them in section V.D.1, Fig. 10.
// An announcement stores 1 word per team, or 1 per member; the single writer is the leader in all layouts.
//
// Whatever a rank has written before it announces, what it shows included, is visible to the member that sees the step
// (release and acquire on whichever word), so members need no other flag of their leader.
#pragma once

#include <vector>

#include "coll/blocks/trees/tree_place.hpp"
#include "coll/env/env.hpp"

namespace tutti::coll {

enum class FlagLayout : std::size_t { one, packed, apart };
inline constexpr Parameter flags_parameter = {
    "flags", 0, "a leader's flag: one word for its team, a word per member packed on lines, a line per member",
    ParameterKind::word, "one|packed|apart"};

/// Bytes as steps of a counter. Steps below `first` are for what precedes the data.
class ByteSteps {
public:
    static constexpr std::uint64_t first = 8;

    /// Positions will be multiples of `grain` bytes, or the end.
    ByteSteps(std::size_t total, std::size_t grain) : total_(total), unit_(grain) {}
    std::size_t unit() const { return unit_; }
    /// The step that says: all before this position.
    std::uint64_t of(std::size_t position) const { return first + (position + unit_ - 1) / unit_; }
    std::size_t position(std::uint64_t step) const {
        return step <= first ? 0 : std::min(total_, (step - first) * unit_);
    }
    /// A chunk of about so many bytes: whole units, at least one.
    std::size_t chunk(std::size_t wish) const { return std::max<std::size_t>(1, wish / unit_) * unit_; }

private:
    std::size_t total_, unit_;
};

template <class Env>
class LeaderFlag {
public:
    /// `root` as in Hierarchy::team.
    LeaderFlag(Env& env, topo::Hierarchy const& tree, int root, FlagLayout layout)
        : env_(env), layout_(layout), place_(place_in_hierarchy(env.frames(), tree, env.rank(), root)) {
        first_.push_back(0);
        for (int level = 0; level < led(); ++level)
            first_.push_back(children_in_hierarchy(tree, env.rank(), root, level + 1));
        if (parent() < 0) return;
        topo::Team const mine = tree.team(level(), env.rank(), root);
        number_ = mine.my_index - (mine.my_index > mine.leader_index ? 1 : 0) +
                  static_cast<int>(children_in_hierarchy(tree, parent(), root, level()));
        grandparent_ = leader_of(tree, parent(), root);
    }

    /// The level at which this rank is a member, and its leader there; −1: it leads all.
    int level() const { return place_.level; }
    int parent() const { return place_.parent; }
    /// How many levels this rank leads: 0 … led() − 1.
    int led() const { return place_.led(); }
    /// The members of the teams that it leads, innermost first.
    PooledVector<int> const& children() const { return place_.children; }

    void announce(std::uint64_t step) {
        for (int level = 0; level < led(); ++level) announce(level, step);
    }
    /// To the team of one level.
    void announce(int level, std::uint64_t step) {
        if (layout_ == FlagLayout::one) return env_.ready(level, step);
        auto const l = static_cast<std::size_t>(level);
        for (std::size_t k = first_[l]; k < first_[l + 1]; ++k) {
            if (layout_ == FlagLayout::packed) env_.tell(word(static_cast<int>(k), parent()), step);
            else env_.hand(place_.children[k], step);
        }
    }
    /// Waits for the leader.
    auto until(std::uint64_t step) {
        if (layout_ == FlagLayout::one) return env_.until_ready(parent(), level(), step);
        if (layout_ == FlagLayout::packed) return env_.until_told(parent(), word(number_, grandparent_), step);
        return env_.until_handed(parent(), step);
    }
    std::uint64_t seen() const {
        if (layout_ == FlagLayout::one) return env_.ready_of(parent(), level());
        if (layout_ == FlagLayout::packed) return env_.told_by(parent(), word(number_, grandparent_));
        return env_.handed();
    }

private:
    /// Child number k's word. A leader's `sent` for its own leader has another use: that word is left out. There are
    /// enough, for it is not its own leader's leader: at most size − 2 children then.
    static int word(int k, int parent_of_leader) { return parent_of_leader >= 0 && k >= parent_of_leader ? k + 1 : k; }

    Env& env_;
    FlagLayout layout_;
    LeaderPlace place_;
    int grandparent_ = -1, number_ = 0;
    std::vector<std::size_t> first_;   ///< of each led level's members among the children
};

}   // namespace tutti::coll
