// SPDX-License-Identifier: BSD-3-Clause
// Partitioned parallel reduction: in each round, every rank stages its operand in shared memory and leads some slices,
// which it reduces from the memories of all members of its socket, two operands at a time in rank order; with several
// sockets, each rank then combines the sockets' results of its slice. Two steps per round and one between sockets; each
// rank copies s bytes; p − m combinations of s bytes within sockets and m − 1 between them. DPML (Bayatpour et al., SC
// 2017); by sockets: YHCCL (Peng et al., SC 2023), section 5.1.
//
// Counters, in addition to those of sliced.hpp: ready[staged]: this rank's operand is staged; ready[in_socket]: this
// rank's slices are reduced in its socket.
#pragma once

#include "coll/blocks/sliced.hpp"
#include "coll/env/arguments.hpp"
#include "coll/env/env.hpp"

namespace tutti::coll {

/// How a leader begins its sum: with a copy of the first operand, as DPML is published and counted, or with the first
/// combination.
enum class SumStart { copy_first, combine_first };

template <class Env, class Args>
class MultiLeader : public SlicedReduction<Env, Args> {
    using Base = SlicedReduction<Env, Args>;

public:
    /// `largest`: maximum size of a slice in bytes; `piece`: bytes reduced at a time; `copy`: how copies are made.
    MultiLeader(Env& env, topo::Hierarchy const& tree, Args const& args, Receives receives, SumStart sum,
                std::size_t largest, std::size_t piece, CopyMode copy)
        : Base(env, tree, args, receives, SocketMethod::leader, largest, piece, copy), sum_(sum) {}

    Task run() {
        return Base::run_rounds([this](std::uint64_t k) { return reduce(k); });
    }

private:
    using Base::env_, Base::sockets_, Base::call_, Base::slices_, Base::reducer_, Base::member_index_;

    Task reduce(std::uint64_t k) {
        stage_operand(k);
        env_.ready(Base::staged, k + 1);
        for (int member : sockets_.members())
            if (member != env_.rank()) co_await env_.until_ready(member, Base::staged, k + 1);
        for (int slice : sockets_.finished_by(member_index_)) reduce_slice(slice, k);
        if (sockets_.count() > 1) env_.ready(Base::in_socket, k + 1);
    }

    void stage_operand(std::uint64_t k) {
        ConstBuffer const mine = operand(call_.args);
        std::byte* const to = this->round_in(env_.staging(), k);
        if (slices_.are_adjacent()) {
            Slice const all = slices_.round(k);
            return env_.stage(to, mine, all.first * slices_.element(), all.count * slices_.element(), Base::copy_);
        }
        for (int slice = 0; slice < env_.size(); ++slice)
            env_.stage(to + slices_.offset(slice, k), mine, slices_.position(slice, k), slices_.bytes(slice, k),
                       Base::copy_);
    }

    /// Reduces a slice of the operands of all members of the socket.
    void reduce_slice(int slice, std::uint64_t k) {
        bool const last = sockets_.count() == 1 && call_.receives == Receives::own, direct = last && this->is_direct(k);
        std::byte* const out = direct ? this->my_result(k) : this->sum_of(sockets_.own_part(), slice, k);
        std::size_t const n = slices_.of(slice, k).count,
                          max_elements = std::max<std::size_t>(1, Base::piece_ / slices_.element());
        std::vector<std::byte const*> parts;
        for (int member : sockets_.members())
            parts.push_back(this->round_in(env_.staging(member), k) + slices_.offset(slice, k));
        for (std::size_t first = 0; first < n; first += max_elements)
            combine_parts(parts, out, first * slices_.element(), std::min(max_elements, n - first));
        if (last && !direct) this->store(slice, k, out);
    }

    void combine_parts(std::vector<std::byte const*> const& parts, std::byte* out, std::size_t at, std::size_t n) {
        void const* first = parts[0] + at;
        if (sum_ == SumStart::copy_first || parts.size() == 1) {
            env_.copy(out + at, first, n * slices_.element(), 0, Base::copy_);
            first = out + at;
        }
        for (std::size_t i = 1; i < parts.size(); ++i, first = out + at) {
            void const* two[] = {first, parts[i] + at};
            reducer_.combine(two, 2, out + at, n);
        }
    }

    SumStart sum_;
};

/// Parameters of DPML on one level, as published, and by sockets.
inline constexpr Parameter dpml_slice_parameter = {"slice", 65536, "maximum bytes per slice; a round has p slices"};
inline constexpr Parameter dpml_parameters[] = {
    dpml_slice_parameter, {"piece", 8192, "bytes that a leader reduces at a time"}, copy_parameter};
inline constexpr Parameter dpml_two_level_parameters[] = {
    dpml_slice_parameter, {"piece", 8192, "bytes that are reduced at a time"}, copy_parameter, hierarchy_parameter};

template <class Env, class Args>
Task reduce_by_leaders(Env& env, Args const& a, Receives receives) {
    MultiLeader<Env, Args> reduction(env, env.one_team(), a, receives, SumStart::copy_first, a.parameters[0],
                                     a.parameters[1], static_cast<CopyMode>(a.parameters[2]));
    co_await reduction.run();
}
/// Of `a.parameters`, `first` and the two after it are slice, piece and copy.
template <class Env, class Args>
Task reduce_by_leaders_of_sockets(Env& env, Args const& a, Receives receives, std::size_t first = 0) {
    MultiLeader<Env, Args> reduction(env, env.hierarchy(), a, receives, SumStart::combine_first, a.parameters[first],
                                     a.parameters[first + 1], static_cast<CopyMode>(a.parameters[first + 2]));
    co_await reduction.run();
}

}   // namespace tutti::coll
