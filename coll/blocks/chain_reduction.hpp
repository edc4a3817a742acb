// SPDX-License-Identifier: BSD-3-Clause
// YHCCL's movement-avoiding reduction, in one socket or several. Of each slice, one operand is copied into shared
// memory, by the member next below the one that finishes the slice; all others are combined with it there, in place, as
// the slice passes from member to member of the socket: in step j member i works on slice i + 1 + j. With several
// sockets, each rank then combines the sockets' results of its slice. Per round: n steps in a socket of n ranks, each
// after one neighbour's; s bytes copied by each of m sockets, p − m combinations of s, and m − 1 between sockets.
// YHCCL (Peng et al., SC 2023), sections 3.2 to 3.5 and Algorithm 2; coll/blocks/sliced.hpp defines what counts as a
// socket.
//
// Counters, in addition to those of SlicedReduction (coll/blocks/sliced.hpp): ready[in_socket] steps done. The first
// writer of a slice begins round k when its memory is free; the others follow it along the chain.
#pragma once

#include <span>
#include <vector>

#include "coll/blocks/sliced.hpp"

namespace tutti::coll {

/// A rank's operand, packed, range by range.
template <class Env, class Args>
class PackedOperand {
public:
    /// `max_range`: the largest size of a range in bytes.
    PackedOperand(Env& env, Args const& args, std::size_t max_range) : env_(env), args_(args) {
        if (!args.type->dense(args.count)) packed_.resize(max_range);
    }
    void const* at(std::size_t position, std::size_t bytes) {
        ConstBuffer const mine = operand(args_);
        if (packed_.empty()) return first_byte(mine) + position;
        env_.load(packed_.data(), mine, position, bytes);
        return packed_.data();
    }

private:
    Env& env_;
    Args const& args_;
    std::vector<std::byte> packed_;
};

/// One round in a socket: member i calls step(i + 1 + j, j) for j = 0, 1, …, each when the next member has finished the
/// previous step. `done`: the level of the counter of steps, over all rounds.
template <class Env, class Step>
Task run_chain_round(Env& env, std::span<int const> members, int i, int done, std::uint64_t k, Step step) {
    int const n = static_cast<int>(members.size()), next = members[static_cast<std::size_t>((i + 1) % n)];
    for (int j = 0; j < n; ++j) {
        std::uint64_t const before = k * static_cast<std::uint64_t>(n) + static_cast<std::uint64_t>(j);
        if (j > 0) co_await env.until_ready(next, done, before);
        step((i + 1 + j) % n, j);
        env.ready(done, before + 1);
    }
}

template <class Env, class Args>
class MovementAvoiding : public SlicedReduction<Env, Args> {
    using Base = SlicedReduction<Env, Args>;

public:
    /// `largest`: the largest size of a slice in bytes; `piece`: bytes that are combined at a time between sockets;
    /// `copy`: how copies are made.
    MovementAvoiding(Env& env, topo::Hierarchy const& tree, Args const& args, Receives receives, std::size_t largest,
                     std::size_t piece, CopyMode copy)
        : Base(env, tree, args, receives, SocketMethod::chain, largest, piece, copy),
          own_(env, args, slices_.elements() * slices_.element()) {}

    Task run() {
        return Base::run_rounds([this](std::uint64_t k) {
            return run_chain_round(env_, sockets_.members(), member_index_, Base::in_socket, k,
                                   [this, k](int finisher, int j) {
                                       for (int slice : sockets_.finished_by(finisher)) step(slice, k, j);
                                   });
        });
    }

private:
    using Base::env_, Base::sockets_, Base::call_, Base::slices_, Base::reducer_, Base::member_count_,
        Base::member_index_;

    /// Advances a slice by one member: the first member copies its operand, the others combine theirs.
    void step(int slice, std::uint64_t k, int j) {
        std::size_t const at = slices_.position(slice, k), bytes = slices_.bytes(slice, k);
        std::byte* const sum = this->sum_of(sockets_.own_part(), slice, k);
        bool const finished = j + 1 == member_count_ && sockets_.count() == 1 && call_.receives == Receives::own,
                   direct = finished && this->is_direct(k);
        if (j == 0) {
            env_.stage(sum, operand(call_.args), at, bytes, Base::copy_);
        } else {
            void const* two[] = {own_.at(at, bytes), sum};
            reducer_.combine(two, 2, direct ? this->my_result(k) : sum, slices_.of(slice, k).count);
        }
        if (finished && (j == 0 || !direct)) this->store(slice, k, sum);
    }

    PackedOperand<Env, Args> own_;
};

}   // namespace tutti::coll
