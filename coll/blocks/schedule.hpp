// SPDX-License-Identifier: BSD-3-Clause
// A collective composed of primitives: for each team of the hierarchy a reduction to one member (an n-ary tree), an
// allreduce (recursive k-ing) or a broadcast (an n-ary tree). A Schedule is the part of one rank, as a graph: its nodes
// are the steps of the primitives, and an edge from one step to another says that the first must be complete before the
// second begins. It is built at the first call of its shape, kept with the communicator (Plans, coll/env/trees.hpp),
// and not changed by the calls that execute it (run_schedule.hpp). Cheetah (Gorentla Venkata, Shamis, Sampath, Graham,
// Ladd, CLUSTER 2013), sections III to V.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "coll/blocks/tree.hpp"
#include "coll/env/arguments.hpp"
#include "coll/env/env.hpp"

namespace tutti::coll {

/// The three kinds of schedule of section III.C. Sequential: the primitives form a chain, in an order that is the same
/// for all calls. Fixed: a chain whose order the root determines. General: the order is open; only a step that signals
/// peers waits for the steps whose completion it signals.
enum class Order { sequential, fixed, general };

/// How two ranks pass values; each level has its own (the BCOL components of section III.B).
enum class Mechanism : std::uint8_t { shared_memory, messages };

/// Which ranks combine their data in step i of a recursive k-ing among q = k^steps positions. Rotated: position X takes
/// the data of X + k^i, X + 2 k^i, …, X + (k − 1) k^i (mod q) (figure 5). After step i it has the values X, …,
/// X + k^(i + 1) − 1 (mod q), so that none is combined twice; each position combines them in another order. Groups: the
/// positions that differ in digit i only (to the base k), all of which combine the same values in the same order.
enum class Partners { rotated, groups };

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
    /// The position whose data a position combines with its own in a step; `i`: 1, …, radix() − 1.
    int source(Partners partners, int position, int step, int i) const {
        int const stride = stride_of(step), digit = position / stride % k_;
        if (partners == Partners::rotated) return (position + i * stride) % positions_;
        return position + ((i > digit ? i : i - 1) - digit) * stride;
    }
    /// The position that combines the data of `position` with its own as its i-th source.
    int reader(Partners partners, int position, int step, int i) const {
        if (partners == Partners::groups) return source(partners, position, step, i);
        return (position + positions_ - i * stride_of(step)) % positions_;
    }
    /// The place of a position's own operand among those of a step.
    int own_index(Partners partners, int position, int step) const {
        return partners == Partners::rotated ? 0 : position / stride_of(step) % k_;
    }

private:
    int stride_of(int step) const {
        int stride = 1;
        while (step-- > 0) stride *= k_;
        return stride;
    }

    int n_, k_;
    bool in_order_ = false;
    int positions_ = 1, steps_ = 0;
};

/// A rank with which a step exchanges a value.
struct Peer {
    int rank;
    Mechanism by;
    int message = 0;   ///< its number among the message inputs, or among the message readers, of the schedule
};

/// One step, a node of the graph: wait for the inputs of some peers, combine them with this rank's value, signal the
/// readers.
struct Step {
    static constexpr int none = -1, operand = -2;

    int own = none;                  ///< what this rank contributes: nothing, its operand, or one of its buffers
    int own_index = 0;               ///< position of its contribution among the inputs
    int from = 0;                    ///< the buffer that is read at each input's rank
    int first_edge = 0, edges = 0;   ///< the steps that must be complete before this one begins
    int first_input = 0, inputs = 0;
    int to = none;   ///< the buffer for the result of the step
    int first_reader = 0, readers = 0;
    bool final = false;   ///< the result is this rank's final result
};

/// Composed by calling the primitives in the order in which they run. All ranks of a team must call the same
/// primitives.
///
/// Buffers: buffer 0 holds the value that is passed up a tree or into the first step of a recursive k-ing, buffer s the
/// value for step s, and the last of the exposed buffers the value that is passed down. No rank exposes two values in
/// one buffer, because it is below its leader in one team only. The buffers after those are private to this rank.
class Schedule : public Plans::Plan {
public:
    /// `moves_data` false: there is nothing to combine; the steps only synchronise.
    Schedule(Order order, int exposed, bool moves_data = true)
        : order_(order), exposed_(exposed), buffers_(exposed), moves_data_(moves_data),
          value_(moves_data ? Step::operand : Step::none) {}

    /// Reduce: the operands of a team's members are combined at the member `root`, over a tree.
    void fan_in(topo::TeamMembers const& team, int mine, int root, int degree, Mechanism by) {
        FramePool frames;
        TreePosition const t = position_in(frames, team, mine, root, degree);
        if (!t.children.empty()) combine(0, 0);
        for (int child : t.children) input(child, by);
        if (t.parent >= 0) expose_to(0, t.parent, by);
    }

    /// Broadcast of the value of the member `root`, over a tree.
    void fan_out(topo::TeamMembers const& team, int mine, int root, int degree, Mechanism by) {
        FramePool frames;
        TreePosition const t = position_in(frames, team, mine, root, degree);
        if (t.parent >= 0) receive(t.parent, by);
        for (int child : t.children) expose_to(last_exposed(), child, by);
    }

    /// Allreduce by recursive k-ing.
    void exchange(topo::TeamMembers const& team, int mine, RecursiveKIngPlan const& plan, Partners partners,
                  Mechanism by) {
        int const position = plan.position(mine), proxy = plan.member_at(position), extras = plan.extras(position);
        if (proxy != mine) {
            expose_to(0, team[proxy], by);
            return receive(team[proxy], by);
        }
        if (extras > 0) combine(0, 0);
        for (int i = 0; i < extras; ++i) input(team[plan.extra(position, i)], by);
        for (int step = 0; step < plan.steps(); ++step) {
            for (int i = 1; i < plan.radix(); ++i)
                expose_to(step, team[plan.member_at(plan.reader(partners, position, step, i))], by);
            combine(step, plan.own_index(partners, position, step));
            for (int i = 1; i < plan.radix(); ++i)
                input(team[plan.member_at(plan.source(partners, position, step, i))], by);
        }
        for (int i = 0; i < extras; ++i) expose_to(last_exposed(), team[plan.extra(position, i)], by);
    }

    /// Makes this rank's current value readable for a peer, in one of the exposed buffers.
    void expose_to(int buffer, int peer, Mechanism by) {
        bool const reuses_step = !steps_.empty() && (steps_.back().to == buffer ||
                                                     (steps_.back().to == Step::none && order_ != Order::general));
        if (!reuses_step) add({.own = value_}, true);
        Step& step = steps_.back();
        step.to = buffer;
        if (step.readers++ == 0) step.first_reader = static_cast<int>(peers_.size());
        peers_.push_back({peer, by, by == Mechanism::messages ? message_readers_++ : 0});
        if (moves_data_) value_ = buffer;
    }
    /// Makes the value in the last exposed buffer of `peer` this rank's current value.
    void receive(int peer, Mechanism by) {
        open({.from = last_exposed()});
        input(peer, by);
    }
    /// Makes this rank's current value its result.
    void finish() {
        if (steps_.empty()) add({.own = value_}, true);
        steps_.back().final = true;
    }

    bool moves_data() const { return moves_data_; }
    int exposed_buffers() const { return exposed_; }
    int buffers() const { return buffers_; }
    /// The number of inputs, and of readers, that are reached by messages.
    int message_inputs() const { return message_inputs_; }
    int message_readers() const { return message_readers_; }
    std::span<Step const> steps() const { return steps_; }
    /// The steps from which edges lead to this one, as indices in steps().
    std::span<int const> edges(Step const& s) const { return part(edges_, s.first_edge, s.edges); }
    std::span<Peer const> inputs(Step const& s) const { return part(peers_, s.first_input, s.inputs); }
    std::span<Peer const> readers(Step const& s) const { return part(peers_, s.first_reader, s.readers); }
    /// The inputs and the readers of all steps.
    std::span<Peer const> peers() const { return peers_; }

private:
    int last_exposed() const { return exposed_ - 1; }
    static TreePosition position_in(FramePool& frames, topo::TeamMembers const& team, int mine, int root, int degree) {
        int const n = team.size();
        return n_ary_tree(frames, (mine - root + n) % n, n, degree).renumbered([&](int p) {
            return team[(p + root) % n];
        });
    }

    /// Combines this rank's value, at its position, with the values that peers expose.
    void combine(int from, int own_index) {
        // The value goes into a private buffer, unless other ranks read it anyway.
        if (moves_data_ && !steps_.empty() && steps_.back().to == Step::none) value_ = steps_.back().to = buffers_++;
        open({.own = value_, .own_index = own_index, .from = from});
    }
    /// Adds a step that waits for peers.
    void open(Step step) {
        step.first_input = static_cast<int>(peers_.size());
        add(step, false);
    }
    /// Adds a step and its edges. In a general schedule only a step that signals has edges: from the steps after the
    /// last one that signalled, and from that one.
    void add(Step step, bool signals) {
        int const index = static_cast<int>(steps_.size());
        int const first = order_ != Order::general ? std::max(0, index - 1) : signals ? last_signal_ : index;
        step.first_edge = static_cast<int>(edges_.size());
        for (int before = first; before < index; ++before) edges_.push_back(before), ++step.edges;
        if (signals) last_signal_ = index;
        steps_.push_back(step);
    }
    void input(int peer, Mechanism by) {
        ++steps_.back().inputs;
        peers_.push_back({peer, by, by == Mechanism::messages ? message_inputs_++ : 0});
    }
    template <class T>
    static std::span<T const> part(std::vector<T> const& all, int first, int count) {
        return std::span(all).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
    }

    Order const order_;
    int exposed_, buffers_;
    bool moves_data_;
    int value_;   ///< this rank's current value: its operand or one of its buffers
    int last_signal_ = 0, message_inputs_ = 0, message_readers_ = 0;
    std::vector<Step> steps_;
    std::vector<int> edges_;
    std::vector<Peer> peers_;   ///< inputs and readers of all steps
};

/// The levels of a communicator as primitives see them: those inside a node by shared memory, the outermost of a
/// communicator over several nodes by messages.
struct ScheduleLevels {
    topo::Hierarchy const& tree;
    int rank;
    bool several_nodes;

    int top() const { return tree.levels() - 1; }
    Mechanism mechanism(int level) const {
        return several_nodes && level == top() ? Mechanism::messages : Mechanism::shared_memory;
    }
};

/// The degrees of the trees and of the exchange: indices of the parameters that hold them.
struct ScheduleDegrees {
    Parameters parameters;
    std::size_t fan_in, fan_out;
};

/// Composes an allreduce: reductions up the levels, an exchange among the leaders at the top, broadcasts down.
inline void compose_allreduce(Schedule& s, ScheduleLevels const& levels, RecursiveKIngPlan const& plan,
                              Partners partners, ScheduleDegrees const& degrees) {
    auto const& [tree, rank, several_nodes] = levels;
    int const top = levels.top(), below = std::min(top, tree.levels_of(rank));
    for (int level = 0; level < below; ++level) {
        topo::Team const team = tree.team(level, rank);
        s.fan_in(team.members, team.my_index, team.leader_index,
                 static_cast<int>(degrees.parameters.at(degrees.fan_in, level)), levels.mechanism(level));
    }
    if (topo::Team const team = tree.team(top, rank); team.is_participant)
        s.exchange(team.members, team.my_index, plan, partners, levels.mechanism(top));
    for (int level = below - 1; level >= 0; --level) {
        topo::Team const team = tree.team(level, rank);
        s.fan_out(team.members, team.my_index, team.leader_index,
                  static_cast<int>(degrees.parameters.at(degrees.fan_out, level)), levels.mechanism(level));
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
