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

#include "coll/blocks/reduce/reducer.hpp"
#include "coll/blocks/trees/leader_flag.hpp"
#include "coll/blocks/trees/tree_place.hpp"
#include "coll/env/env.hpp"
#include "coll/env/parameter.hpp"

namespace tutti::coll {

template <class Env>
class GatherTree {
public:
    /// `root`: whose result it is, or −1: everybody's. Operators are applied in rank order on consecutive teams. The
    /// parameters are those below.
    GatherTree(Env& env, ReduceArgs const& a, int root)
        : env_(env), a_(a), root_(root), place_(env.frames()), reducer_(env.traffic(), a),
          steps_(a.bytes(), std::max<std::size_t>(1, reducer_.element_bytes())) {
        std::size_t largest = 0;
        for (int level = 0; level < env.hierarchy().levels(); ++level)
            largest = std::max(largest, a.parameters.at(2, level));
        slice_ = steps_.chunk(std::min({largest, env.staging_bytes() / cells, a.bytes()}));
        stride_ = (slice_ + cache_line - 1) / cache_line * cache_line;
        slices_ = (a.bytes() + slice_ - 1) / slice_;
        int const levels = env.hierarchy().levels_of(env.rank());
        handed_ = std::min(slice_, steps_.chunk(a.parameters.at(2, levels - 1)));
        int const group = static_cast<int>(std::max<std::size_t>(1, a.parameters[1])) + 1;
        for (int level = 0; level < levels; ++level) join(env.hierarchy().team(level, env.rank()), group);
    }

    FramePool& frames() { return env_.frames(); }
    Task run() {
        if (slices_ == 0) co_return;
        env_.reserve_staging(cells * stride_);
        env_.add_staging();
        for (std::uint64_t b = 0; b < slices_; ++b) {
            co_await gather(b);
            if (b > 0) co_await copy_out(b - 1);
        }
        co_await copy_out(slices_ - 1);
        co_await freed(slices_);
        if (root_ < 0 && place_.parent >= 0) env_.ack(1, step_of(slices_));
    }

private:
    static constexpr std::uint64_t cells = 4;

    /// Waits until nobody needs this rank's cells of the slices before `count`.
    Task freed(std::uint64_t count) {
        std::uint64_t const step = step_of(count);
        if (place_.parent >= 0) co_await env_.until_ack(place_.parent, 0, step);
        else if (root_ > 0) co_await env_.until_taken(root_, step);
        if (root_ >= 0 || (place_.parent >= 0 && count < slices_)) co_return;
        for (int child : place_.children) co_await env_.until_ack(child, 1, step);
    }

    Task gather(std::uint64_t b) {
        if (b >= cells) co_await freed(b - cells + 1);
        for (std::size_t at = 0, n; at < length(b); at += n) {
            n = std::min(handed_, length(b) - at);
            co_await gather_part(b, at, n);
        }
        if (!place_.children.empty()) env_.ack(0, step_of(b + 1));
    }

    /// Bytes [at, at + n) of slice b.
    Task gather_part(std::uint64_t b, std::size_t at, std::size_t n) {
        std::size_t const position = b * slice_ + at, count = n / reducer_.element_bytes();
        std::uint64_t const step = steps_.of(position + n);
        // The root's own memory takes the result of a reduce at once.
        bool const straight = a_.type->dense(a_.count), mine = place_.parent < 0 && root_ == env_.rank();
        std::byte* const sum = mine && straight ? first_byte(result(a_)) + position : cell(env_.staging(), b) + at;
        void const* own = first_byte(operand(a_)) + position;
        if (place_.children.empty() || !straight) {
            if (own != sum) env_.stage(sum, operand(a_), position, n);
            own = sum;
        }
        for (int child : place_.children) {
            co_await env_.until_ready(child, 0, step);
            void const* const operands[] = {std::exchange(own, sum), cell(env_.staging(child), b) + at};
            reducer_.combine(operands, 2, sum, count);
        }
        if (place_.parent >= 0) env_.ready(0, step);
        else if (!mine) env_.ready(1, step);   // to all, or to the root elsewhere
        else if (!straight) env_.store(result(a_), position, sum, n);
    }

    /// Whoever gets the result copies it from the top of the tree.
    Task copy_out(std::uint64_t b) {
        constexpr int top = 0;
        bool const copies = root_ < 0 || (root_ > 0 && env_.rank() == root_);
        if (!copies) co_return;
        std::uint64_t const step = step_of(b + 1);
        if (root_ > 0) co_await env_.until_ready(top, 1, step);
        else if (place_.parent >= 0) {
            co_await env_.until_ready(place_.parent, 1, step);
            if (!place_.children.empty()) env_.ready(1, step);
        }
        std::byte const* const from = cell(env_.rank() == top ? env_.staging() : env_.staging(top), b);
        env_.store(result(a_), b * slice_, from, length(b));
        if (root_ > 0) env_.taken(top, step);
        else if (place_.parent >= 0 && b > 0) {   // of the slice before: the children need not be waited for
            for (int child : place_.children) co_await env_.until_ack(child, 1, step_of(b));
            env_.ack(1, step_of(b));
        }
    }

    /// The step that says: all of so many slices.
    std::uint64_t step_of(std::uint64_t count) const { return steps_.of(std::min(count * slice_, a_.bytes())); }
    std::size_t length(std::uint64_t b) const { return std::min(slice_, a_.bytes() - b * slice_); }
    std::byte* cell(std::byte* staging, std::uint64_t b) const { return staging + b % cells * stride_; }

    /// The leader of a team has further children in the next one.
    void join(topo::Team const& team, int group) {
        TreePlace const t = tree_of_groups(env_.frames(), team.my_index, team.members.size(), group);
        auto const rank_at = [&](int index) { return team.members[index]; };
        if (t.parent >= 0) place_.parent = rank_at(t.parent);
        for (int child : t.children) place_.children.push_back(rank_at(child));
    }

    Env& env_;
    ReduceArgs const& a_;
    int root_;
    TreePlace place_;
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

}   // namespace tutti::coll
