// SPDX-License-Identifier: BSD-3-Clause
// Movement-avoiding reduction: of each slice one operand is copied into shared memory, by the member next below the one
// that finishes it; all others are combined with it there, in place, as the slice goes round the socket: step j of
// member i is on slice i + 1 + j. With several sockets each rank then combines what they have of its slice. Per round n
// steps in a socket of n, each after one neighbour's; s bytes copied by each socket, p − m combinations of s, and m − 1
// between sockets. YHCCL (Peng et al., SC 2023), sections 3.2 to 3.5 and Algorithm 2.
//
// Counters, besides those of sliced_reduction.hpp: ready[inside] steps done. The first writer of a slice begins round k
// when its memory is free; the others come after it along the chain.
#pragma once

#include "coll/blocks/reduce/sliced_reduction.hpp"

namespace tutti::coll {

/// A rank's operand, packed, range by range.
template <class Env, class Args>
class PackedOperand {
public:
    /// Ranges of `most` bytes at most.
    PackedOperand(Env& env, Args const& args, std::size_t most) : env_(env), args_(args) {
        if (!args.type->dense(args.count)) packed_.resize(most);
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

/// One round in a socket: member i calls step(i + 1 + j, j) for j = 0, 1, …, each when the next member is through with
/// the step before. `done`: the level that counts steps, over all rounds.
template <class Env, class Step>
Task go_round(Env& env, std::span<int const> members, int i, int done, std::uint64_t k, Step step) {
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
    /// `largest`: bytes of a slice at most; `piece`: bytes that are combined at a time between sockets.
    MovementAvoiding(Env& env, topo::Hierarchy const& tree, Args const& args, Receives receives, std::size_t largest,
                     std::size_t piece)
        : Base(env, tree, args, receives, Inside::chain, largest, piece),
          own_(env, args, slices_.elements() * slices_.element()) {}

    Task run() {
        return Base::run_rounds([this](std::uint64_t k) {
            return go_round(env_, sockets_.members(), i_, Base::inside, k, [this, k](int finisher, int j) {
                for (int slice : sockets_.finished_by(finisher)) step(slice, k, j);
            });
        });
    }

private:
    using Base::env_, Base::sockets_, Base::what_, Base::slices_, Base::reducer_, Base::n_, Base::i_;

    /// One slice goes one member on: the first copies its operand, the others add theirs.
    void step(int slice, std::uint64_t k, int j) {
        std::size_t const at = slices_.position(slice, k), bytes = slices_.bytes(slice, k);
        std::byte* const sum = this->sum_of(sockets_.mine(), slice, k);
        bool const finished = j + 1 == n_ && sockets_.count() == 1 && what_.receives == Receives::own,
                   straight = finished && this->straight(k);
        if (j == 0) {
            env_.stage(sum, operand(what_.args), at, bytes);
        } else {
            void const* two[] = {own_.at(at, bytes), sum};
            reducer_.combine(two, 2, straight ? this->my_result(k) : sum, slices_.of(slice, k).count);
        }
        if (finished && (j == 0 || !straight)) this->store(slice, k, sum);
    }

    PackedOperand<Env, Args> own_;
};

/// With all ranks in one socket.
template <class Env, class Args>
Task reduce_by_chain(Env& env, Args const& a, Receives receives) {
    MovementAvoiding<Env, Args> reduction(env, env.one_team(), a, receives, a.parameters[0], ~std::size_t{0});
    co_await reduction.run();
}

inline constexpr Parameter socket_aware_parameters[] = {
    largest_slice_parameter,
    {"piece", 16384, "bytes that are combined at a time between sockets"},
    hierarchy_parameter};
template <class Env, class Args>
Task reduce_by_chains_of_sockets(Env& env, Args const& a, Receives receives) {
    MovementAvoiding<Env, Args> reduction(env, env.hierarchy(), a, receives, a.parameters[0], a.parameters[1]);
    co_await reduction.run();
}

}   // namespace tutti::coll
