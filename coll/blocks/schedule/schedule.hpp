// SPDX-License-Identifier: BSD-3-Clause
// A collective composed of primitives: for each team of the hierarchy a reduction to one member (an n-ary tree), an
// allreduce (recursive k-ing) or a broadcast (an n-ary tree). A Schedule is one rank's part: the steps that the
// primitives leave it with, and what each step must wait for. What runs it: schedule_run.hpp.
// Cheetah (Gorentla Venkata, Shamis, Sampath, Graham, Ladd, CLUSTER 2013), sections III to V.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "coll/blocks/trees/tree_place.hpp"
#include "coll/env/parameter.hpp"

namespace tutti::coll {

/// The three kinds of schedule of section III.C. Sequential: by level, always the same. Fixed: the root decides which
/// team comes when. Both make a step wait for all steps before it. General: the order is left open; only a step that
/// tells peers something waits for those before it.
enum class Order { sequential, fixed, general };

/// Who does what in a recursive k-ing among n members: k^steps of them take part in the steps, at positions 0, 1, …;
/// each of the others is an extra and hands its operand to a proxy among those.
class RecursiveKIngPlan {
public:
    /// `in_order`: an extra follows its proxy, so that operands stay in the order of the members; otherwise, as in the
    /// paper, the last members are the extras.
    RecursiveKIngPlan(int members, int k, bool in_order) : n_(members), k_(std::clamp(k, 2, std::max(2, members))) {
        for (in_order_ = in_order; positions_ * k_ <= n_; positions_ *= k_) ++steps_;
    }

    int radix() const { return k_; }
    /// The buffers that its steps and its result take.
    int buffers() const { return std::max(1, steps_) + 1; }
    int steps() const { return steps_; }
    /// The position of a member, or of its proxy.
    int position(int member) const {
        if (!in_order_) return member % positions_;
        int const each = n_ / positions_, longer = n_ % positions_;
        return member < longer * (each + 1) ? member / (each + 1) : longer + (member - longer * (each + 1)) / each;
    }
    int member_at(int position) const {
        return in_order_ ? position * (n_ / positions_) + std::min(position, n_ % positions_) : position;
    }
    int extras(int position) const {
        return in_order_ ? n_ / positions_ + (position < n_ % positions_) - 1 : (n_ - position - 1) / positions_;
    }
    int extra(int position, int i) const {
        return in_order_ ? member_at(position) + 1 + i : position + (1 + i) * positions_;
    }

private:
    int n_, k_;
    bool in_order_ = false;
    int positions_ = 1, steps_ = 0;
};

/// One step: wait for the inputs of some peers, combine them with what this rank has, tell others.
struct Step {
    static constexpr int none = -1, operand = -2;

    bool joins = true;   ///< comes after all earlier steps
    int own = none;      ///< what this rank puts in: nothing, its operand, or one of its buffers
    int own_place = 0;   ///< and its place among the inputs
    int from = 0;        ///< the buffer of each input's rank
    int first_input = 0, inputs = 0;
    int to = none;   ///< the buffer that holds what comes of it
    int first_reader = 0, readers = 0;
    bool final = false;       ///< it is this rank's result
    std::uint64_t done = 0;   ///< fragments that have passed (kept by who runs the schedule)
};

/// Composed by calling the primitives in the order in which they run. Every rank of a team calls the same ones.
///
/// Buffers: 0 holds what goes up a tree or into the first step of a recursive k-ing, s what goes into its step s, the
/// last of the `shown` ones what comes down. No rank shows two things in one buffer, for it is below its leader in one
/// team only. Buffers from `shown` on are this rank's alone.
class Schedule {
public:
    /// `moves_data` false: there is nothing to combine, the steps only tell each other.
    Schedule(FramePool& frames, Order order, int shown, bool moves_data = true)
        : frames_(frames), order_(order), shown_(shown), buffers_(shown), moves_data_(moves_data),
          value_(moves_data ? Step::operand : Step::none) {
        steps_.reserve(16);
        ranks_.reserve(32);
    }

    /// Reduce: the operands of a team's members come to the one at `root`, over a tree.
    void fan_in(topo::Members const& team, int mine, int root, int degree) {
        TreePlace const t = place_in(team, mine, root, degree);
        if (!t.children.empty()) combine(0, 0);
        for (int child : t.children) input(child);
        if (t.parent >= 0) pass(0, t.parent);
    }

    /// Broadcast of what the member at `root` has, over a tree.
    void fan_out(topo::Members const& team, int mine, int root, int degree) {
        TreePlace const t = place_in(team, mine, root, degree);
        if (t.parent >= 0) receive(t.parent);
        for (int child : t.children) pass(last_shown(), child);
    }

    /// Allreduce by recursive k-ing.
    void exchange(topo::Members const& team, int mine, RecursiveKIngPlan const& plan) {
        int const position = plan.position(mine), proxy = plan.member_at(position), extras = plan.extras(position);
        if (proxy != mine) {
            pass(0, team[proxy]);
            return receive(team[proxy]);
        }
        if (extras > 0) combine(0, 0);
        for (int i = 0; i < extras; ++i) input(team[plan.extra(position, i)]);
        for (int step = 0, stride = 1; step < plan.steps(); ++step, stride *= plan.radix()) {
            int const digit = position / stride % plan.radix();
            auto const peer = [&](int i) { return team[plan.member_at(position + (i - digit) * stride)]; };
            for (int i = 0; i < plan.radix(); ++i)
                if (i != digit) pass(step, peer(i));
            combine(step, digit);
            for (int i = 0; i < plan.radix(); ++i)
                if (i != digit) input(peer(i));
        }
        for (int i = 0; i < extras; ++i) pass(last_shown(), team[plan.extra(position, i)]);
    }

    /// What this rank has now becomes readable for a peer, in one of the shown buffers.
    void pass(int buffer, int peer) {
        bool const fits = !steps_.empty() &&
                          (steps_.back().to == buffer || (steps_.back().to == Step::none && order_ != Order::general));
        if (!fits) steps_.push_back({.own = value_});
        Step& step = steps_.back();
        step.to = buffer;
        if (step.readers++ == 0) step.first_reader = static_cast<int>(ranks_.size());
        ranks_.push_back(peer);
        if (moves_data_) value_ = buffer;
    }
    /// What `peer` shows in its last buffer is from now on what this rank has.
    void receive(int peer) {
        open({.from = last_shown()});
        input(peer);
    }
    /// What this rank has now is its result.
    void finish() {
        if (steps_.empty()) steps_.push_back({.own = value_});
        steps_.back().final = true;
    }

    bool moves_data() const { return moves_data_; }
    int shown() const { return shown_; }
    int buffers() const { return buffers_; }
    std::span<Step> steps() { return steps_; }
    std::span<int const> inputs(Step const& s) const { return of(s.first_input, s.inputs); }
    std::span<int const> readers(Step const& s) const { return of(s.first_reader, s.readers); }

private:
    int last_shown() const { return shown_ - 1; }
    TreePlace place_in(topo::Members const& team, int mine, int root, int degree) {
        int const n = team.size();
        return n_ary_tree(frames_, (mine - root + n) % n, n, degree).named([&](int p) { return team[(p + root) % n]; });
    }

    /// Combines what this rank has, at its place, with what peers show.
    void combine(int from, int own_place) {
        // What it has goes into a buffer of its own unless others read it anyway.
        if (moves_data_ && !steps_.empty() && steps_.back().to == Step::none) value_ = steps_.back().to = buffers_++;
        open({.own = value_, .own_place = own_place, .from = from});
    }
    void open(Step step) {
        step.joins = order_ != Order::general;
        step.first_input = static_cast<int>(ranks_.size());
        steps_.push_back(step);
    }
    void input(int peer) {
        ++steps_.back().inputs;
        ranks_.push_back(peer);
    }
    std::span<int const> of(int first, int count) const {
        return std::span(ranks_).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
    }

    FramePool& frames_;
    Order order_;
    int shown_, buffers_;
    bool moves_data_;
    int value_;   ///< what this rank has: its operand or one of its buffers
    std::vector<Step> steps_;
    std::vector<int> ranks_;   ///< inputs and readers of all steps
};

/// Everybody gets what all have: reductions up the levels, an exchange among those at the top, broadcasts down.
/// `fan_in` and `fan_out` are the parameters that hold the degrees of the trees.
inline void compose_for_all(Schedule& s, topo::Hierarchy const& tree, int rank, RecursiveKIngPlan const& plan,
                            Parameters const& degrees, std::size_t fan_in, std::size_t fan_out) {
    int const top = tree.levels() - 1, below = std::min(top, tree.levels_of(rank));
    for (int level = 0; level < below; ++level) {
        topo::Team const team = tree.team(level, rank);
        s.fan_in(team.members, team.my_index, team.leader_index, static_cast<int>(degrees.at(fan_in, level)));
    }
    if (topo::Team const team = tree.team(top, rank); team.i_take_part) s.exchange(team.members, team.my_index, plan);
    for (int level = below - 1; level >= 0; --level) {
        topo::Team const team = tree.team(level, rank);
        s.fan_out(team.members, team.my_index, team.leader_index, static_cast<int>(degrees.at(fan_out, level)));
    }
}

/// Teams keep their leaders whoever the root is; this is the member of a team that is nearest to the root.
inline int nearest_to(int root, topo::Hierarchy const& tree, int level, topo::Team const& team) {
    topo::Team const of_root = tree.team(level, root);
    return of_root.id == team.id ? of_root.my_index : team.leader_index;
}
/// Of the levels at which a rank takes part, the one whose team leads to the root; −1 at the root itself. In all its
/// other teams the rank is the nearest one.
inline int level_towards(int root, topo::Hierarchy const& tree, int rank) {
    int level = tree.levels_of(rank) - 1;
    while (level >= 0) {
        topo::Team const team = tree.team(level, rank);
        if (nearest_to(root, tree, level, team) != team.my_index) break;
        --level;
    }
    return level;
}

}   // namespace tutti::coll
