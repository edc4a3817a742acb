// SPDX-License-Identifier: BSD-3-Clause
// A collective composed of primitives: for each team of the hierarchy a reduction to one member (an n-ary tree), an
// allreduce (recursive k-ing) or a broadcast (an n-ary tree). A Schedule is the part of one rank: the steps that the
// primitives assign to it, and what each step must wait for. run_schedule.hpp executes it. Cheetah (Gorentla Venkata,
// Shamis, Sampath, Graham, Ladd, CLUSTER 2013), sections III to V.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "coll/blocks/tree.hpp"
#include "coll/env/arguments.hpp"

namespace tutti::coll {

/// The three kinds of schedule of section III.C. Sequential: level by level, always in the same order. Fixed: the root
/// decides the order of the teams. In both, a step waits for all steps before it. General: the order is open; only a
/// step that signals peers waits for the steps before it.
enum class Order { sequential, fixed, general };

/// The roles in a recursive k-ing among n members: k^steps of them participate in the steps, at positions 0, 1, …; each
/// of the others is an extra and passes its operand to a proxy among these.
class RecursiveKIngPlan {
public:
    /// `in_order`: an extra directly follows its proxy, so that operands stay in the order of the members. Otherwise,
    /// as in the paper, the last members are the extras.
    RecursiveKIngPlan(int members, int k, bool in_order) : n_(members), k_(std::clamp(k, 2, std::max(2, members))) {
        for (in_order_ = in_order; positions_ * k_ <= n_; positions_ *= k_) ++steps_;
    }

    int radix() const { return k_; }
    /// The number of buffers for its steps and its result.
    int buffers() const { return std::max(1, steps_) + 1; }
    int steps() const { return steps_; }
    /// The position of a member, or that of its proxy.
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

/// One step: wait for the inputs of some peers, combine them with this rank's value, signal the readers.
struct Step {
    static constexpr int none = -1, operand = -2;

    bool waits_for_earlier = true;   ///< waits for all earlier steps
    int own = none;                  ///< what this rank contributes: nothing, its operand, or one of its buffers
    int own_index = 0;               ///< position of its contribution among the inputs
    int from = 0;                    ///< the buffer that is read at each input's rank
    int first_input = 0, inputs = 0;
    int to = none;   ///< the buffer for the result of the step
    int first_reader = 0, readers = 0;
    bool final = false;       ///< the result is this rank's final result
    std::uint64_t done = 0;   ///< fragments that have passed the step (updated while the schedule runs)
};

/// Composed by calling the primitives in the order in which they run. All ranks of a team must call the same
/// primitives.
///
/// Buffers: buffer 0 holds the value that is passed up a tree or into the first step of a recursive k-ing, buffer s the
/// value for step s, and the last of the exposed buffers the value that is passed down. No rank exposes two values in
/// one buffer, because it is below its leader in one team only. The buffers after those are private to this rank.
class Schedule {
public:
    /// `moves_data` false: there is nothing to combine; the steps only synchronise.
    Schedule(FramePool& frames, Order order, int exposed, bool moves_data = true)
        : frames_(frames), order_(order), exposed_(exposed), buffers_(exposed), moves_data_(moves_data),
          value_(moves_data ? Step::operand : Step::none) {
        steps_.reserve(16);
        ranks_.reserve(32);
    }

    /// Reduce: the operands of a team's members are combined at the member `root`, over a tree.
    void fan_in(topo::TeamMembers const& team, int mine, int root, int degree) {
        TreePosition const t = position_in(team, mine, root, degree);
        if (!t.children.empty()) combine(0, 0);
        for (int child : t.children) input(child);
        if (t.parent >= 0) expose_to(0, t.parent);
    }

    /// Broadcast of the value of the member `root`, over a tree.
    void fan_out(topo::TeamMembers const& team, int mine, int root, int degree) {
        TreePosition const t = position_in(team, mine, root, degree);
        if (t.parent >= 0) receive(t.parent);
        for (int child : t.children) expose_to(last_exposed(), child);
    }

    /// Allreduce by recursive k-ing.
    void exchange(topo::TeamMembers const& team, int mine, RecursiveKIngPlan const& plan) {
        int const position = plan.position(mine), proxy = plan.member_at(position), extras = plan.extras(position);
        if (proxy != mine) {
            expose_to(0, team[proxy]);
            return receive(team[proxy]);
        }
        if (extras > 0) combine(0, 0);
        for (int i = 0; i < extras; ++i) input(team[plan.extra(position, i)]);
        for (int step = 0, stride = 1; step < plan.steps(); ++step, stride *= plan.radix()) {
            int const digit = position / stride % plan.radix();
            auto const peer = [&](int i) { return team[plan.member_at(position + (i - digit) * stride)]; };
            for (int i = 0; i < plan.radix(); ++i)
                if (i != digit) expose_to(step, peer(i));
            combine(step, digit);
            for (int i = 0; i < plan.radix(); ++i)
                if (i != digit) input(peer(i));
        }
        for (int i = 0; i < extras; ++i) expose_to(last_exposed(), team[plan.extra(position, i)]);
    }

    /// Makes this rank's current value readable for a peer, in one of the exposed buffers.
    void expose_to(int buffer, int peer) {
        bool const reuses_step = !steps_.empty() && (steps_.back().to == buffer ||
                                                     (steps_.back().to == Step::none && order_ != Order::general));
        if (!reuses_step) steps_.push_back({.own = value_});
        Step& step = steps_.back();
        step.to = buffer;
        if (step.readers++ == 0) step.first_reader = static_cast<int>(ranks_.size());
        ranks_.push_back(peer);
        if (moves_data_) value_ = buffer;
    }
    /// Makes the value in the last exposed buffer of `peer` this rank's current value.
    void receive(int peer) {
        open({.from = last_exposed()});
        input(peer);
    }
    /// Makes this rank's current value its result.
    void finish() {
        if (steps_.empty()) steps_.push_back({.own = value_});
        steps_.back().final = true;
    }

    bool moves_data() const { return moves_data_; }
    int exposed_buffers() const { return exposed_; }
    int buffers() const { return buffers_; }
    std::span<Step> steps() { return steps_; }
    std::span<int const> inputs(Step const& s) const { return of(s.first_input, s.inputs); }
    std::span<int const> readers(Step const& s) const { return of(s.first_reader, s.readers); }

private:
    int last_exposed() const { return exposed_ - 1; }
    TreePosition position_in(topo::TeamMembers const& team, int mine, int root, int degree) {
        int const n = team.size();
        return n_ary_tree(frames_, (mine - root + n) % n, n, degree).renumbered([&](int p) {
            return team[(p + root) % n];
        });
    }

    /// Combines this rank's value, at its position, with the values that peers expose.
    void combine(int from, int own_index) {
        // The value goes into a private buffer, unless other ranks read it anyway.
        if (moves_data_ && !steps_.empty() && steps_.back().to == Step::none) value_ = steps_.back().to = buffers_++;
        open({.own = value_, .own_index = own_index, .from = from});
    }
    void open(Step step) {
        step.waits_for_earlier = order_ != Order::general;
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
    int exposed_, buffers_;
    bool moves_data_;
    int value_;   ///< this rank's current value: its operand or one of its buffers
    std::vector<Step> steps_;
    std::vector<int> ranks_;   ///< inputs and readers of all steps
};

/// Composes an allreduce: reductions up the levels, an exchange among the leaders at the top, broadcasts down. `fan_in`
/// and `fan_out` are the indices of the parameters that hold the degrees of the trees.
inline void compose_allreduce(Schedule& s, topo::Hierarchy const& tree, int rank, RecursiveKIngPlan const& plan,
                              Parameters const& degrees, std::size_t fan_in, std::size_t fan_out) {
    int const top = tree.levels() - 1, below = std::min(top, tree.levels_of(rank));
    for (int level = 0; level < below; ++level) {
        topo::Team const team = tree.team(level, rank);
        s.fan_in(team.members, team.my_index, team.leader_index, static_cast<int>(degrees.at(fan_in, level)));
    }
    if (topo::Team const team = tree.team(top, rank); team.is_participant)
        s.exchange(team.members, team.my_index, plan);
    for (int level = below - 1; level >= 0; --level) {
        topo::Team const team = tree.team(level, rank);
        s.fan_out(team.members, team.my_index, team.leader_index, static_cast<int>(degrees.at(fan_out, level)));
    }
}

/// Teams keep their leaders for every root. Returns the index of the member of a team that is nearest to the root.
inline int nearest_to(int root, topo::Hierarchy const& tree, int level, topo::Team const& team) {
    topo::Team const of_root = tree.team(level, root);
    return of_root.id == team.id ? of_root.my_index : team.leader_index;
}
/// Returns the level, among those at which a rank takes part, whose team leads towards the root; −1 at the root itself.
/// In all its other teams the rank is the nearest member.
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
