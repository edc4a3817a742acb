// SPDX-License-Identifier: BSD-3-Clause
// The reduction that reduce and allreduce share: over any number of levels, in blocks, two of them in flight.
//
// Up: every member stages its block; each member of a team reduces one share of each chunk, directly from all members'
// staging memory in one pass, into the leader's memory; the leader is then a member of the next team. Down (allreduce):
// each leader's copy of the result is read by its team, leaders first. While block b goes up, block b − 1 comes down. A
// block is as large as the largest chunk of any level; on each level the team processes it in chunks of the level's own
// size, so that the next level can begin with the first of them.
//
// Counters, in steps of positions in the vector, with L = number of levels: ready[l]: this rank's data of level l is
// available; ack[l]: this rank's share of level l is done; ready[L]: the result is available at this rank; ack[L]: this
// rank has read the result. A buffer of block b is overwritten for block b + 2, after all its readers have acknowledged
// all of b. A leader's upper buffers are written by its team only after the leader's ready[0] for that block, which it
// raises only when they are free.
//
// Why it terminates: all ranks work in the same order, by blocks, levels and chunks, and a rank that works on a chunk
// of a level waits only for that chunk of that level at other ranks. XHC (Katevenis, Ploumidis, Marazakis), section
// IV.B and C; in addition, leaders take a share of the work.
#pragma once

#include "coll/blocks/reducer.hpp"
#include "coll/blocks/tree.hpp"
#include "coll/env/arguments.hpp"
#include "coll/env/env.hpp"
#include "runtime/wait/task.hpp"

namespace tutti::coll {

template <class Env>
class TreeReduction {
public:
    /// `root`: the rank that gets the result, or −1: all ranks. `chunk`: index of the parameter that holds the chunk
    /// size of each level. All arguments must be the same at all ranks.
    TreeReduction(Env& env, topo::Hierarchy const& tree, ReduceArgs const& args, int root, std::size_t chunk,
                  std::size_t smallest_share)
        : env_(env), tree_(tree), a_(args), root_(root), levels_(tree.levels()),
          own_levels_(tree.levels_of(env.rank(), root)), reducer_(env.traffic(), args),
          steps_(args.bytes(), std::max<std::size_t>(1, reducer_.element_bytes())), chunk_(chunk),
          smallest_share_(smallest_share), operands_(env.frames()) {
        std::size_t const buffers = static_cast<std::size_t>(levels_ + 2) * depth;
        std::size_t largest = 0;
        for (int level = 0; level < levels_; ++level) largest = std::max(largest, args.parameters.at(chunk, level));
        block_ = steps_.chunk(std::min({largest, args.bytes(), env.staging_bytes() / buffers}));
        stride_ = (block_ + cache_line - 1) / cache_line * cache_line;
        env.reserve_staging(stride_ * buffers);
        blocks_ = (args.bytes() + block_ - 1) / block_;
    }

    FramePool& frames() { return env_.frames(); }
    Task run() {
        env_.add_staging();
        for (std::uint64_t b = 0; b < blocks_; ++b) {
            co_await up(b);
            if (root_ < 0 && b > 0) co_await down(b - 1);
        }
        if (root_ < 0 && blocks_ > 0) co_await down(blocks_ - 1);
        co_await await_free_buffers(blocks_);
    }

private:
    static constexpr std::uint64_t depth = 2;

    topo::Team team_at(int level) const { return tree_.team(level, env_.rank(), root_); }
    bool top() const { return own_levels_ == levels_ && team_at(levels_ - 1).is_leader; }
    std::size_t length(std::uint64_t b) const { return std::min(block_, a_.bytes() - b * block_); }
    std::size_t chunk(int level) const { return std::min(block_, steps_.chunk(a_.parameters.at(chunk_, level))); }
    /// The step that signals block b up to its byte `end`.
    std::uint64_t step_of(std::uint64_t b, std::size_t end) const { return steps_.step(b * block_ + end); }
    /// Buffer `level` of block b in a staging memory: 0: own data; l + 1: the result of the team led at level l.
    std::byte* buffer(std::byte* staging, int level, std::uint64_t b) const {
        return staging + (static_cast<std::uint64_t>(level) * depth + b % depth) * stride_;
    }
    int down_buffer() const { return top() ? levels_ : levels_ + 1; }

    /// Waits until all ranks have read what this rank staged for the blocks before `count`.
    Task await_free_buffers(std::uint64_t count) {
        if (count == 0) co_return;
        std::uint64_t const all = step_of(count - 1, length(count - 1));
        for (int level = 0; level < own_levels_; ++level) {
            topo::Team const team = team_at(level);
            for (int member : team.members) {
                if (member == env_.rank()) continue;
                co_await env_.until_ack(member, level, all);
                if (team.is_leader && root_ < 0) co_await env_.until_ack(member, levels_, all);
            }
        }
    }

    Task up(std::uint64_t b) {
        if (b >= depth) co_await await_free_buffers(b - depth + 1);
        std::size_t const bytes = length(b);
        for (std::size_t at = 0, n; at < bytes; at += n) {
            n = std::min(chunk(0), bytes - at);
            env_.stage(buffer(env_.staging(), 0, b) + at, operand(a_), b * block_ + at, n);
            env_.ready(0, step_of(b, at + n));
        }
        for (int level = 0; level < own_levels_; ++level) {
            topo::Team const team = team_at(level);
            for (std::size_t at = 0, n; at < bytes; at += n) {
                n = std::min(chunk(level), bytes - at);
                co_await combine(team, level, b, at, n);
            }
            if (!team.is_leader) break;
        }
        if (top()) env_.store(result(a_), b * block_, buffer(env_.staging(), levels_, b), bytes);
    }

    /// Combines one chunk of block b at a level: bytes [at, at + n) of the block.
    Task combine(topo::Team const& team, int level, std::uint64_t b, std::size_t at, std::size_t n) {
        std::uint64_t const step = step_of(b, at + n);
        for (int member : team.members)
            if (member != env_.rank()) co_await env_.until_ready(member, level, step);
        reduce_share(team, level, b, at, n);
        env_.ack(level, step);
        if (!team.is_leader) co_return;
        for (int member : team.members)
            if (member != env_.rank()) co_await env_.until_ack(member, level, step);
        env_.ready(level + 1, step);
    }

    Task down(std::uint64_t b) {
        if (top()) co_return;   // it has had its result since the way up; its team reads it there
        int const leader = team_at(own_levels_ - 1).leader;
        bool const from_top = tree_.levels_of(leader, root_) == levels_ && leads_all(leader);
        std::size_t const bytes = length(b);
        for (std::size_t at = 0, n; at < bytes; at += n) {
            n = std::min(chunk(own_levels_ - 1), bytes - at);
            std::uint64_t const step = step_of(b, at + n);
            co_await env_.until_ready(leader, levels_, step);
            std::byte const* from = buffer(env_.staging(leader), from_top ? levels_ : levels_ + 1, b) + at;
            if (own_levels_ > 1) {   // a leader itself: pass the data on first
                env_.copy(buffer(env_.staging(), down_buffer(), b) + at, from, n, 0);
                env_.ready(levels_, step);
            }
            env_.store(result(a_), b * block_ + at, from, n);
            env_.ack(levels_, step);
        }
    }

    bool leads_all(int rank) const { return tree_.team(levels_ - 1, rank, root_).leader == rank; }

    /// Reduces this rank's share of a chunk at a level: a range of elements, from all members, into the leader's
    /// memory.
    void reduce_share(topo::Team const& team, int level, std::uint64_t b, std::size_t at, std::size_t bytes) {
        std::size_t const element = std::max<std::size_t>(1, reducer_.element_bytes()), n = bytes / element;
        std::size_t const members = static_cast<std::size_t>(team.members.size());
        std::size_t const min_elements = std::max<std::size_t>(1, smallest_share_ / element);
        std::size_t const share = std::max(min_elements, (n + members - 1) / members);
        // The leader has the first share, so that it alone reduces a chunk that is not divided, whatever its index is.
        std::size_t const share_index =
            (static_cast<std::size_t>(team.my_index - team.leader_index) + members) % members;
        std::size_t const first = std::min(n, share * share_index), last = std::min(n, first + share);
        if (first == last) return;
        std::size_t const from = at + first * element;
        operands_.clear();
        for (int member : team.members) operands_.push_back(buffer(env_.staging(member), level, b) + from);
        std::byte* to = buffer(env_.staging(team.leader), level + 1, b) + from;
        reducer_.combine(operands_.data(), static_cast<int>(members), to, last - first);
    }

    Env& env_;
    topo::Hierarchy const& tree_;
    ReduceArgs const& a_;
    int root_, levels_, own_levels_;
    Reducer reducer_;
    ByteSteps steps_;
    std::size_t chunk_, smallest_share_, block_, stride_;   ///< index of the parameter; bytes
    std::uint64_t blocks_;
    PooledVector<void const*> operands_;
};

inline constexpr Parameter tree_reduction_parameters[] = {
    {"chunk", 32768, "bytes that a team reduces and forwards at a time on each level", ParameterKind::per_level},
    {"share", 512, "bytes below which a member's share of a chunk is not divided further"},
    hierarchy_parameter,
};

/// The same reduction with one team of all ranks in rank order.
inline constexpr Parameter reduction_in_blocks_parameters[] = {
    {"chunk", 32768, "bytes of a block"},
    {"share", 512, "bytes below which a member's share of a block is not divided further"},
};
template <class Env>
Task reduce_in_blocks(Env& env, ReduceArgs const& a, int root) {
    TreeReduction<Env> reduction(env, env.one_team(), a, root, 0, a.parameters[1]);
    co_await reduction.run();
}

}   // namespace tutti::coll
