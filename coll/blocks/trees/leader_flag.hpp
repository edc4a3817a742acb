// SPDX-License-Identifier: BSD-3-Clause
// The flag by which a leader tells its teams how far they may go, in one of three layouts: one word per team that all
// members poll; one word per member, eight on a line; one line per member. XHC compares them in section V.D.1, Fig. 10.
// An announcement stores 1 word per team, or 1 per member; the single writer is the leader in all layouts.
//
// Whatever a rank has written before it announces, what it shows included, is visible to the member that sees the step
// (release and acquire on whichever word), so members need no other flag of their leader.
#pragma once

#include <vector>

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
    ByteSteps(std::size_t total, std::size_t grain) : total_(total), unit_(grain) {
        while (total / unit_ >= last_step - first - 2) unit_ *= 2;
    }
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
        : env_(env), layout_(layout), level_(tree.levels_of(env.rank(), root) - 1) {
        topo::Team const mine = tree.team(level_, env.rank(), root);
        parent_ = mine.i_lead ? -1 : mine.leader;
        int const led = level_ + (mine.i_lead ? 1 : 0);
        first_.push_back(0);
        for (int level = 0; level < led; ++level) {
            for (int member : tree.team(level, env.rank(), root).members)
                if (member != env.rank()) children_.push_back(member);
            first_.push_back(children_.size());
        }
        if (parent_ < 0) return;
        number_ = mine.my_index - (mine.my_index > mine.leader_index ? 1 : 0);
        for (int level = 0; level < level_; ++level) number_ += tree.team(level, parent_, root).members.size() - 1;
        grandparent_ = parent_of(tree, parent_, root);
    }

    /// The level at which this rank is a member, and its leader there; −1: it leads all.
    int level() const { return level_; }
    int parent() const { return parent_; }
    /// How many levels this rank leads: 0 … led() − 1.
    int led() const { return static_cast<int>(first_.size()) - 1; }
    /// The members of the teams that it leads, innermost first.
    std::vector<int> const& children() const { return children_; }

    void announce(std::uint64_t step) {
        for (int level = 0; level < led(); ++level) announce(level, step);
    }
    /// To the team of one level.
    void announce(int level, std::uint64_t step) {
        if (layout_ == FlagLayout::one) return env_.ready(level, step);
        auto const l = static_cast<std::size_t>(level);
        for (std::size_t k = first_[l]; k < first_[l + 1]; ++k) {
            if (layout_ == FlagLayout::packed) env_.tell(word(static_cast<int>(k), parent_), step);
            else env_.hand(children_[k], step);
        }
    }
    /// Waits for the leader.
    auto until(std::uint64_t step) {
        if (layout_ == FlagLayout::one) return env_.until_ready(parent_, level_, step);
        if (layout_ == FlagLayout::packed) return env_.until_told(parent_, word(number_, grandparent_), step);
        return env_.until_handed(parent_, step);
    }
    std::uint64_t seen() const {
        if (layout_ == FlagLayout::one) return env_.ready_of(parent_, level_);
        if (layout_ == FlagLayout::packed) return env_.told_by(parent_, word(number_, grandparent_));
        return env_.handed();
    }

private:
    static int parent_of(topo::Hierarchy const& tree, int rank, int root) {
        int const leader = tree.team(tree.levels_of(rank, root) - 1, rank, root).leader;
        return leader == rank ? -1 : leader;
    }
    /// Child number k's word. A leader's `sent` for its own leader has another use: that word is left out. There are
    /// enough, for it is not its own leader's leader: at most size − 2 children then.
    static int word(int k, int parent_of_leader) {
        return parent_of_leader >= 0 && k >= parent_of_leader ? k + 1 : k;
    }

    Env& env_;
    FlagLayout layout_;
    int level_, parent_ = -1, grandparent_ = -1, number_ = 0;
    std::vector<int> children_;
    std::vector<std::size_t> first_;   ///< of each led level's members among the children
};

}  // namespace tutti::coll
