// SPDX-License-Identifier: BSD-3-Clause
// What sliced reductions on one node share. In each round the members of every socket reduce p slices into shared
// memory, as each algorithm has it; with several sockets each rank then combines what they have of its own slice; in
// the end who gets results of others copies them out. YHCCL (Peng et al., SC 2023), sections 3.3 and 5.1.
//
// Memory is two rounds deep. Counters: ready[inside] what is reduced in the socket (the algorithm's steps);
// ready[whole] rounds in which this rank's own slice is reduced; ack[0] rounds that it is through with. A rank's memory
// is written again for round k when all who read it last have acknowledged round k − 2.
#pragma once

#include "coll/blocks/exchange/acknowledged.hpp"
#include "coll/blocks/reduce/pairwise_fold.hpp"
#include "coll/blocks/reduce/slices.hpp"
#include "coll/blocks/reduce/sockets.hpp"

namespace tutti::coll {

/// How the members of a socket reduce a slice: one after the other, the sum lying with the member before the one that
/// finishes it; or that one alone, from what all have laid out, in its own memory.
enum class Inside { chain, leader };

template <class Env, class Args>
class SlicedReduction {
public:
    FramePool& frames() { return env_.frames(); }

protected:
    static constexpr std::uint64_t depth = 2;
    enum Level { laid_out, inside, whole };

    /// `largest`: bytes of a slice at most; `piece`: bytes that are combined at a time.
    SlicedReduction(Env& env, topo::Hierarchy const& tree, Args const& args, Receives receives, Inside how,
                    std::size_t largest, std::size_t piece)
        : env_(env), sockets_(tree, env.rank()), what_{args, receives}, how_(how), piece_(piece),
          slices_(args, env.size(), std::min(largest, env.staging_bytes() / (depth * buffers()))),
          reducer_(env.traffic(), args), n_(sockets_.size(sockets_.mine())), i_(sockets_.my_index()) {
        env.reserve_staging(depth * buffers() * slices_.stride());
        std::size_t const p = static_cast<std::size_t>(env.size()), m = static_cast<std::size_t>(sockets_.count());
        std::size_t const results = (receives == Receives::all ? p : 1) * args.bytes(),
                          shared = how == Inside::leader ? depth * p * p : m * p;
        working_set_ = p * args.bytes() + results + shared * slices_.stride();
        find_readers();
    }

    /// `reduce(k)`: round k inside of this rank's socket.
    template <class Reduce>
    Task run_rounds(Reduce reduce) {
        env_.add_staging();
        for (std::uint64_t k = 0; k < slices_.rounds(); ++k) {
            if (k >= depth) co_await acknowledged(env_, std::span<int const>(readers_), 0, k - depth + 1);
            co_await reduce(k);
            if (sockets_.count() > 1) co_await between(k);
            if (what_.receives != Receives::own) env_.ready(whole, k + 1);
            if (what_.collects(env_.rank())) co_await collect(k);
            env_.ack(0, k + 1);
        }
        co_await acknowledged(env_, std::span<int const>(readers_), 0, slices_.rounds());
    }

    /// Where the memory for round k begins: what a rank lays out, then its sums.
    std::byte* round_in(std::byte* staging, std::uint64_t k) const {
        return staging + k % depth * buffers() * slices_.stride();
    }
    /// Where a slice is reduced in a socket.
    std::byte* sum_of(int socket, int slice, std::uint64_t k) {
        int const size = sockets_.size(socket), before = how_ == Inside::chain ? size - 1 : 0;
        int const writer = (sockets_.finisher_index(socket, slice) + before) % size;
        std::size_t const place = laid() + sockets_.place(socket, slice);
        std::byte* const memory = env_.staging(sockets_.members(socket)[static_cast<std::size_t>(writer)]);
        return round_in(memory, k) + place * slices_.stride();
    }
    /// Can what is reduced last, this rank's own slice, lie at once where the user wants it? No operand may be read
    /// there any more.
    bool straight(std::uint64_t k) const {
        return what_.receives == Receives::own && what_.dense() &&
               (how_ == Inside::leader || !what_.overlaps(slices_, env_.rank(), k));
    }
    std::byte* my_result(std::uint64_t k) {
        return first_byte(what_.result(env_.rank())) + what_.result_position(slices_, env_.rank(), k);
    }
    /// Copies a finished slice to where the user wants it.
    void store(int slice, std::uint64_t k, void const* from) {
        Buffer const to = what_.result(env_.rank());
        std::size_t const at = what_.result_position(slices_, slice, k), bytes = slices_.bytes(slice, k);
        if (what_.dense()) env_.copy(first_byte(to) + at, from, bytes, working_set_);
        else env_.store(to, at, from, bytes);
    }

    Env& env_;
    Sockets sockets_;
    Sliced<Args> what_;
    Inside how_;
    std::size_t piece_;
    Slices slices_;
    Reducer reducer_;
    int n_, i_;   ///< members of this rank's socket, its index there

private:
    /// Slices that every rank lays out in a round, and all that it has memory for.
    std::size_t laid() const { return how_ == Inside::leader ? static_cast<std::size_t>(env_.size()) : 0; }
    std::size_t buffers() const { return laid() + sockets_.places(); }

    /// The second level: my slice, as each socket has it.
    Task between(std::uint64_t k) {
        int const me = env_.rank();
        std::vector<void const*> parts;
        for (int socket = 0; socket < sockets_.count(); ++socket) {
            auto const steps = static_cast<std::uint64_t>(how_ == Inside::chain ? sockets_.size(socket) : 1);
            int const finisher = sockets_.finisher(socket, me);
            if (finisher != me) co_await env_.until_ready(finisher, inside, (k + 1) * steps);
            parts.push_back(sum_of(socket, me, k));
        }
        void* const out = straight(k) ? my_result(k) : sum_of(sockets_.mine(), me, k);
        fold_from(reducer_, parts, static_cast<std::size_t>(sockets_.mine()), out, slices_.of(me, k).count, piece_);
        if (what_.receives == Receives::own && !straight(k)) store(me, k, out);
    }

    Task collect(std::uint64_t k) {
        for (int i = 0, slice = env_.rank(); i < env_.size(); ++i, slice = (slice + 1) % env_.size()) {
            if (i > 0) co_await env_.until_ready(slice, whole, k + 1);
            store(slice, k, sum_of(sockets_.of(slice), slice, k));
        }
    }

    /// Whose acknowledgement tells that all are done with this rank's memory: all who copy results from it, or the
    /// root, who has waited for the rest, or who reads operands and the ranks whose slices lie there.
    void find_readers() {
        if (what_.receives == Receives::root) {
            readers_.push_back(what_.args.root);
        } else if (what_.receives == Receives::all) {
            for (int peer = 0; peer < env_.size(); ++peer) readers_.push_back(peer);
        } else if (how_ == Inside::chain) {   // of whom the next member reads only what others read after it
            for (int slice : sockets_.finished_by((i_ + 1) % n_)) readers_.push_back(slice);
        } else {
            readers_.assign(sockets_.members().begin(), sockets_.members().end());
            for (int slice : sockets_.finished_by(i_))
                if (sockets_.of(slice) != sockets_.mine()) readers_.push_back(slice);
        }
    }

    std::size_t working_set_ = 0;
    std::vector<int> readers_;
};

}   // namespace tutti::coll
