// SPDX-License-Identifier: BSD-3-Clause
// RG, the pipelined tree reduction, for allreduce and reduce.
//
// allreduce/rg: each parent combines its k children's slices, then all ranks copy the result from the topmost parent's
// memory. log(p)/log(k + 1) steps up and as many down per slice; bytes loaded and stored, with p a power of k + 1:
// s·p·(5k/(k + 1) + 3k/(k + 1)² + … + 3k/p + 2).
// Jain, Kaleem and others, SC 2018; the steps and the volume as in YHCCL, sections 2.2 and 3.4 (Table 2).
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/reducer.hpp"
#include "coll/blocks/tree.hpp"
#include "coll/env/arguments.hpp"
#include "coll/env/env.hpp"

// The tree: in groups of k + 1 ranks, k children pass their slice to a parent, which combines them with its own in its
// shared memory; of k + 1 parents, one is the parent in the next step. On a hierarchy each team has such a tree, and
// its leader is a member of the next team. The size of a slice is that of the parent's level; several cells of memory,
// each of the largest size, are in use. In an allreduce all ranks copy the result from the topmost parent's memory; the
// release moves down the tree, and the acknowledgements of the copies move up.
//
// Counters, in steps of positions in the vector: ready[0] combined up to here; ack[0] this rank has read its children's
// data; ready[1] released; ack[1] copied, in the whole subtree. A cell is overwritten for slice b + cells when the
// ack[0] of the rank's parent or, at the top, the ack[1] of all ranks is beyond b. No rank waits for slice b to be
// copied before it has passed on slice b + 1, so with more than two cells the tree always makes progress.
// Jain, Kaleem and others, SC 2018, as described by YHCCL (Peng and others): section 2.2, Fig. 1a; section 3.4.

namespace tutti::coll {

template <class Env>
class RgTree {
public:
    /// `root`: the rank that gets the result; −1: all ranks. Operators are applied in rank order if teams are
    /// consecutive. The parameters are gather_tree_parameters.
    RgTree(Env& env, ReduceArgs const& a, int root)
        : env_(env), a_(a), root_(root), position_(env.frames()), reducer_(env.traffic(), a),
          steps_(a.bytes(), std::max<std::size_t>(1, reducer_.element_bytes())) {
        std::size_t largest = 0;
        for (int level = 0; level < env.hierarchy().levels(); ++level)
            largest = std::max(largest, a.parameters.at(2, level));
        slice_ = steps_.chunk(std::min(largest, a.bytes()));
        stride_ = (slice_ + cache_line - 1) / cache_line * cache_line;
        slices_ = (a.bytes() + slice_ - 1) / slice_;
        int const levels = env.hierarchy().levels_of(env.rank());
        step_bytes_ = std::min(slice_, steps_.chunk(a.parameters.at(2, levels - 1)));
        int const group = static_cast<int>(std::max<std::size_t>(1, a.parameters[1])) + 1;
        for (int level = 0; level < levels; ++level) add_team(env.hierarchy().team(level, env.rank()), group);
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
        co_await await_free_cells(slices_);
        if (root_ < 0 && position_.parent >= 0) env_.ack(1, step_of(slices_));
    }

private:
    static constexpr std::uint64_t cells = 4;

    /// Waits until no rank needs this rank's cells of the slices before `count`.
    Task await_free_cells(std::uint64_t count) {
        std::uint64_t const step = step_of(count);
        if (position_.parent >= 0) co_await env_.until_ack(position_.parent, 0, step);
        else if (root_ > 0) co_await env_.until_consumed(root_, step);
        if (root_ >= 0 || (position_.parent >= 0 && count < slices_)) co_return;
        for (int child : position_.children) co_await env_.until_ack(child, 1, step);
    }

    Task gather(std::uint64_t b) {
        if (b >= cells) co_await await_free_cells(b - cells + 1);
        for (std::size_t at = 0, n; at < length(b); at += n) {
            n = std::min(step_bytes_, length(b) - at);
            co_await gather_part(b, at, n);
        }
        if (!position_.children.empty()) env_.ack(0, step_of(b + 1));
    }

    /// Combines bytes [at, at + n) of slice b.
    Task gather_part(std::uint64_t b, std::size_t at, std::size_t n) {
        std::size_t const position = b * slice_ + at, count = n / reducer_.element_bytes();
        std::uint64_t const step = steps_.step(position + n);
        // In a reduce whose root is at the top of the tree, data is combined directly into its result if that is dense.
        bool const direct = a_.type->dense(a_.count), mine = position_.parent < 0 && root_ == env_.rank();
        std::byte* const sum = mine && direct ? first_byte(result(a_)) + position : cell(env_.staging(), b) + at;
        void const* own = first_byte(operand(a_)) + position;
        if (position_.children.empty() || !direct) {
            if (own != sum) env_.stage(sum, operand(a_), position, n);
            own = sum;
        }
        for (int child : position_.children) {
            co_await env_.until_ready(child, 0, step);
            void const* const operands[] = {std::exchange(own, sum), cell(env_.staging(child), b) + at};
            reducer_.combine(operands, 2, sum, count);
        }
        if (position_.parent >= 0) env_.ready(0, step);
        else if (!mine) env_.ready(1, step);   // to all ranks, or to a root that is not at the top
        else if (!direct) env_.store(result(a_), position, sum, n);
    }

    /// Each rank that gets the result copies it from the top of the tree.
    Task copy_out(std::uint64_t b) {
        constexpr int top = 0;
        bool const copies = root_ < 0 || (root_ > 0 && env_.rank() == root_);
        if (!copies) co_return;
        std::uint64_t const step = step_of(b + 1);
        if (root_ > 0) co_await env_.until_ready(top, 1, step);
        else if (position_.parent >= 0) {
            co_await env_.until_ready(position_.parent, 1, step);
            if (!position_.children.empty()) env_.ready(1, step);
        }
        std::byte const* const from = cell(env_.rank() == top ? env_.staging() : env_.staging(top), b);
        env_.store(result(a_), b * slice_, from, length(b));
        if (root_ > 0) env_.consumed(top, step);
        else if (position_.parent >= 0 && b > 0) {   // of the previous slice, so that no wait is needed
            for (int child : position_.children) co_await env_.until_ack(child, 1, step_of(b));
            env_.ack(1, step_of(b));
        }
    }

    /// Returns the step of position `count` slices.
    std::uint64_t step_of(std::uint64_t count) const { return steps_.step(std::min(count * slice_, a_.bytes())); }
    std::size_t length(std::uint64_t b) const { return std::min(slice_, a_.bytes() - b * slice_); }
    std::byte* cell(std::byte* staging, std::uint64_t b) const { return staging + b % cells * stride_; }

    /// The leader of a team has further children in the next team.
    void add_team(topo::Team const& team, int group) {
        TreePosition const t = tree_of_groups(env_.frames(), team.my_index, team.members.size(), group);
        auto const rank_at = [&](int index) { return team.members[index]; };
        if (t.parent >= 0) position_.parent = rank_at(t.parent);
        for (int child : t.children) position_.children.push_back(rank_at(child));
    }

    Env& env_;
    ReduceArgs const& a_;
    int root_;
    TreePosition position_;
    Reducer reducer_;
    ByteSteps steps_;
    std::size_t slice_, stride_;   ///< the largest size of a slice; the same in whole lines
    std::size_t step_bytes_;       ///< bytes that this rank passes to its parent at a time
    std::uint64_t slices_;
};

inline constexpr Parameter gather_tree_parameters[] = {
    hierarchy_parameter,
    {"degree", 2, "children of a parent in each step of the tree", ParameterKind::number},
    {"slice", 131072, "bytes per slice on each level", ParameterKind::per_level}};

}   // namespace tutti::coll

namespace tutti::coll::algorithms::allreduce {

template <class Env>
Task rg(Env& env, ReduceArgs const& a) {
    RgTree<Env> tree(env, a, -1);
    co_await tree.run();
}

constexpr RecordHead rg_head = {
    "rg",
    "a pipelined tree: each parent combines k children's slices, and all copy from the top",
    Family::baseline,
    "Jain et al., SC 2018, as RG in YHCCL, section 3.4",
    requires_commutative_or_consecutive,
    gather_tree_parameters,
};
extern constinit const Algorithm<ReduceArgs> rg_algorithm = {
    rg_head, TUTTI_SHM_ONLY(rg), {"(7*p - 3 - 2*group_parents(degree + 1))*s"}};

}   // namespace tutti::coll::algorithms::allreduce

// reduce/rg: the same tree without the copies. log(p)/log(k + 1) steps per slice; bytes loaded and stored, with p a
// power of k + 1: s·p·(5k/(k + 1) + 3k/(k + 1)² + … + 3k/p), and 2 s more if the root is not rank 0, which is the top
// of the tree; leaves of the tree copy their operands in.
// Jain, Kaleem and others, SC 2018; the steps and the volume as in YHCCL, sections 2.2 and 3.5 (Table 3).

namespace tutti::coll::algorithms::reduce {

template <class Env>
Task rg(Env& env, ReduceArgs const& a) {
    RgTree<Env> tree(env, a, a.root);
    co_await tree.run();
}

extern constinit const Algorithm<ReduceArgs> rg_algorithm = {
    allreduce::rg_head.described_as("a pipelined tree: each parent combines k children's slices")
        .from("Jain et al., SC 2018, as RG in YHCCL, section 3.5"),
    TUTTI_SHM_ONLY(rg),
    {"(5*p - 3 - 2*group_parents(degree + 1) + (0 < root ? 2 : 0))*s"}};

}   // namespace tutti::coll::algorithms::reduce
