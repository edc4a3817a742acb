// SPDX-License-Identifier: BSD-3-Clause
// The pipelined tree reduction RG, alone and in its allreduce. In groups of k + 1 ranks k children hand their slice to
// a parent, who combines them with its own in its shared memory; of k + 1 parents one is that of the next step. On a
// hierarchy each team has such a tree, and its leader is a member of the next team. A slice has the size of the level
// on which the parent is; several cells of memory, of the largest size, are under way. In an allreduce all copy the
// result from the topmost parent's memory; the release goes down the tree, and back up comes who has copied.
//
// Counters, in steps of positions in the vector: ready[0]: combined up to here; ack[0]: I have read my children's;
// ready[1]: released; ack[1]: copied, in my whole subtree. A cell of the memory is written again for slice b + cells
// when its parent's ack[0], or at the top everybody's ack[1], is beyond b. Nobody waits for slice b to be copied before
// it has handed on slice b + 1, so with more than two cells the tree always moves.
// Jain, Kaleem and others, SC 2018, as YHCCL (Peng and others) describes it: section 2.2, Fig. 1a; section 3.4.
#pragma once

#include <vector>

#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/trees/leader_flag.hpp"
#include "coll/blocks/reduce/reducer.hpp"

namespace tutti::coll {

template <class Env>
class GatherTree {
public:
    /// `root`: whose result it is, or −1: everybody's. Operators are applied in rank order on consecutive teams. The
    /// parameters are those below.
    GatherTree(Env& env, ReduceArgs const& a, int root)
        : env_(env), a_(a), root_(root), reducer_(env.traffic(), a),
          steps_(a.bytes(), std::max<std::size_t>(1, reducer_.element_bytes())) {
        std::size_t largest = 0;
        for (int level = 0; level < env.hierarchy().levels(); ++level)
            largest = std::max(largest, a.parameters.at(2, level));
        slice_ = steps_.chunk(std::min({largest, env.staging_bytes() / cells, a.bytes()}));
        stride_ = (slice_ + cache_line - 1) / cache_line * cache_line;
        slices_ = (a.bytes() + slice_ - 1) / slice_;
        int const levels = env.hierarchy().levels_of(env.rank());
        handed_ = std::min(slice_, steps_.chunk(a.parameters.at(2, levels - 1)));
        for (int level = 0; level < levels; ++level)
            grow(env.hierarchy().team(level, env.rank()), std::max<std::size_t>(1, a.parameters[1]) + 1);
    }

    Task run() { return run_in(env_, *this); }

private:
    static constexpr std::uint64_t cells = 4;

    // Coroutines take the environment first: their frames come from its pool.
    static Task run_in(Env& env, GatherTree& t) {
        if (t.slices_ == 0) co_return;
        env.reserve_staging(cells * t.stride_);
        env.add_staging();
        for (std::uint64_t b = 0; b < t.slices_; ++b) {
            co_await gather(env, t, b);
            if (b > 0) co_await copy_out(env, t, b - 1);
        }
        co_await copy_out(env, t, t.slices_ - 1);
        co_await freed(env, t, t.slices_);
        if (t.root_ < 0 && t.parent_ >= 0) env.ack(1, t.step(t.slices_));
    }

    /// Waits until nobody needs this rank's cells of the slices before `count`.
    static Task freed(Env& env, GatherTree& t, std::uint64_t count) {
        std::uint64_t const step = t.step(count);
        if (t.parent_ >= 0) co_await env.until_ack(t.parent_, 0, step);
        else if (t.root_ > 0) co_await env.until_taken(t.root_, step);
        if (t.root_ >= 0 || (t.parent_ >= 0 && count < t.slices_)) co_return;
        for (int child : t.children_) co_await env.until_ack(child, 1, step);
    }

    static Task gather(Env& env, GatherTree& t, std::uint64_t b) {
        if (b >= cells) co_await freed(env, t, b - cells + 1);
        for (std::size_t at = 0, n; at < t.length(b); at += n) {
            n = std::min(t.handed_, t.length(b) - at);
            co_await gather_part(env, t, b, at, n);
        }
        if (!t.children_.empty()) env.ack(0, t.step(b + 1));
    }

    /// Bytes [at, at + n) of slice b.
    static Task gather_part(Env& env, GatherTree& t, std::uint64_t b, std::size_t at, std::size_t n) {
        std::size_t const position = b * t.slice_ + at, count = n / t.reducer_.element_bytes();
        std::uint64_t const step = t.steps_.of(position + n);
        // The root's own memory takes the result of a reduce at once.
        bool const straight = t.a_.type->dense(t.a_.count), mine = t.parent_ < 0 && t.root_ == env.rank();
        std::byte* const sum = mine && straight ? first_byte(result(t.a_)) + position : t.cell(env.staging(), b) + at;
        void const* own = first_byte(operand(t.a_)) + position;
        if (t.children_.empty() || !straight) {
            if (own != sum) env.stage(sum, operand(t.a_), position, n);
            own = sum;
        }
        for (int child : t.children_) {
            co_await env.until_ready(child, 0, step);
            void const* const operands[] = {std::exchange(own, sum), t.cell(env.staging(child), b) + at};
            t.reducer_.combine(operands, 2, sum, count);
        }
        if (t.parent_ >= 0) env.ready(0, step);
        else if (!mine) env.ready(1, step);   // to all, or to the root elsewhere
        else if (!straight) env.store(result(t.a_), position, sum, n);
    }

    /// Whoever gets the result copies it from the top of the tree.
    static Task copy_out(Env& env, GatherTree& t, std::uint64_t b) {
        constexpr int top = 0;
        bool const copies = t.root_ < 0 || (t.root_ > 0 && env.rank() == t.root_);
        if (!copies) co_return;
        std::uint64_t const step = t.step(b + 1);
        if (t.root_ > 0) co_await env.until_ready(top, 1, step);
        else if (t.parent_ >= 0) {
            co_await env.until_ready(t.parent_, 1, step);
            if (!t.children_.empty()) env.ready(1, step);
        }
        std::byte const* const from = t.cell(env.rank() == top ? env.staging() : env.staging(top), b);
        env.store(result(t.a_), b * t.slice_, from, t.length(b));
        if (t.root_ > 0) env.taken(top, step);
        else if (t.parent_ >= 0 && b > 0) {   // of the slice before: the children need not be waited for
            for (int child : t.children_) co_await env.until_ack(child, 1, t.step(b));
            env.ack(1, t.step(b));
        }
    }

    /// The step that says: all of so many slices.
    std::uint64_t step(std::uint64_t count) const { return steps_.of(std::min(count * slice_, a_.bytes())); }
    std::size_t length(std::uint64_t b) const { return std::min(slice_, a_.bytes() - b * slice_); }
    std::byte* cell(std::byte* staging, std::uint64_t b) const { return staging + b % cells * stride_; }

    /// This rank's place in the tree of one team, in groups of `group`.
    void grow(topo::Team const& team, std::size_t group) {
        auto const n = static_cast<std::size_t>(team.members.size()), me = static_cast<std::size_t>(team.my_index);
        for (std::size_t step = 1; step < n; step *= group) {
            std::size_t const first = me - me % (step * group);
            if (first != me) {
                parent_ = team.members[static_cast<int>(first)];
                return;
            }
            for (std::size_t c = me + step; c < std::min(n, me + step * group); c += step)
                children_.push_back(team.members[static_cast<int>(c)]);
        }
    }

    Env& env_;
    ReduceArgs const& a_;
    int root_, parent_ = -1;
    std::vector<int> children_;   ///< in the order in which they are combined
    Reducer reducer_;
    ByteSteps steps_;
    std::size_t slice_, stride_;   ///< of the largest size; that in whole lines
    std::size_t handed_;           ///< what this rank hands to its parent at a time
    std::uint64_t slices_;
};

inline constexpr Parameter gather_tree_parameters[] = {
    hierarchy_parameter,
    {"degree", 2, "children of a parent in each step of the tree", ParameterKind::number},
    {"slice", 131072, "bytes of a slice that goes to a parent on each level, cut to a quarter of staging memory",
     ParameterKind::per_level}};

}  // namespace tutti::coll
