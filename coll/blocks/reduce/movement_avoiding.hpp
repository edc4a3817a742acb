// SPDX-License-Identifier: BSD-3-Clause
// Movement-avoiding reduction: of each slice one operand is copied into shared memory, by the member next below the one
// that finishes it; all others are combined with it there, in place, as the slice goes round the socket: step j of
// member i is on slice i + 1 + j. With several sockets each rank then combines what they have of its slice. Per round n
// steps in a socket of n, each after one neighbour's; s bytes copied by each socket, p − m combinations of s, and m − 1
// between sockets. YHCCL (Peng et al., SC 2023), sections 3.2 to 3.5 and Algorithm 2.
//
// A slice lies with its first writer, two rounds deep. Counters: ready[inside] steps done; ready[whole] rounds in which
// this rank's slice is reduced; ack[0] rounds that this rank is through with. The first writer begins round k when all
// who read its memory last have acknowledged round k − 2; the others come after it along the chain.
#pragma once

#include "coll/blocks/reduce/pairwise_fold.hpp"
#include "coll/blocks/reduce/slices.hpp"
#include "coll/blocks/reduce/sockets.hpp"

namespace tutti::coll {

template <class Env, class Args>
class MovementAvoiding {
public:
    MovementAvoiding(Env& env, topo::Hierarchy const& tree, Args const& args, Receives receives, std::size_t largest)
        : env_(env), sockets_(tree, env.rank()), what_{args, receives},
          slices_(args, env.size(), std::min(largest, env.staging_bytes() / (depth * sockets_.places()))),
          reducer_(env.traffic(), args), n_(sockets_.size(sockets_.mine())), i_(sockets_.my_index()) {
        env.reserve_staging(depth * sockets_.places() * slices_.stride());
        if (!what_.dense()) packed_.resize(slices_.elements() * slices_.element());
        std::size_t const p = static_cast<std::size_t>(env.size()), m = static_cast<std::size_t>(sockets_.count());
        std::size_t const results = receives == Receives::all ? p * args.bytes() : args.bytes();
        working_set_ = p * args.bytes() + results + m * p * slices_.stride();
        find_readers();
    }

    FramePool& frames() { return env_.frames(); }
    Task run() {
        env_.add_staging();
        for (std::uint64_t k = 0; k < slices_.rounds(); ++k) {
            if (k >= depth) co_await freed(k - depth + 1);
            co_await go_round(k);
            if (sockets_.count() > 1) co_await between(k);
            if (what_.receives != Receives::own) env_.ready(whole, k + 1);
            if (what_.collects(env_.rank())) co_await collect(k);
            env_.ack(0, k + 1);
        }
        co_await freed(slices_.rounds());
    }

private:
    static constexpr std::uint64_t depth = 2;
    enum Level { inside, whole };

    /// Waits until nobody reads what lay in this rank's memory in the first `rounds` rounds.
    Task freed(std::uint64_t rounds) {
        for (int reader : readers_)
            if (rounds > 0) co_await env_.until_ack(reader, 0, rounds);
    }

    Task go_round(std::uint64_t k) {
        auto const n = static_cast<std::uint64_t>(n_);
        int const next = sockets_.members()[static_cast<std::size_t>((i_ + 1) % n_)];
        for (int j = 0; j < n_; ++j) {
            std::uint64_t const done = k * n + static_cast<std::uint64_t>(j);
            if (j > 0) co_await env_.until_ready(next, inside, done);
            for (int slice : sockets_.finished_by((i_ + 1 + j) % n_)) step(slice, k, j);
            env_.ready(inside, done + 1);
        }
    }

    /// The second level: my slice, as each socket has it.
    Task between(std::uint64_t k) {
        int const me = env_.rank();
        for (int socket = 0; socket < sockets_.count(); ++socket) {
            auto const n = static_cast<std::uint64_t>(sockets_.size(socket));
            int const finisher = sockets_.finisher(socket, me);
            if (finisher != me) co_await env_.until_ready(finisher, inside, k * n + n);
        }
        std::vector<void const*> parts;
        for (int socket = 0; socket < sockets_.count(); ++socket) parts.push_back(shared(socket, me, k));
        void* const out = straight(k) ? my_result(k) : shared(sockets_.mine(), me, k);
        fold_from(reducer_, parts, static_cast<std::size_t>(sockets_.mine()), out, slices_.of(me, k).count);
        if (what_.receives == Receives::own && !straight(k)) store(me, k, out);
    }

    Task collect(std::uint64_t k) {
        for (int i = 0, slice = env_.rank(); i < env_.size(); ++i, slice = (slice + 1) % env_.size()) {
            if (i > 0) co_await env_.until_ready(slice, whole, k + 1);
            store(slice, k, shared(sockets_.socket_of(slice), slice, k));
        }
    }

    /// One slice goes one member on: the first copies its operand, the others add theirs.
    void step(int slice, std::uint64_t k, int j) {
        std::size_t const n = slices_.of(slice, k).count;
        std::byte* const sum = shared(sockets_.mine(), slice, k);
        bool const finished = j + 1 == n_ && sockets_.count() == 1 && what_.receives == Receives::own;
        if (j == 0) {
            env_.stage(sum, operand(what_.args), slices_.position(slice, k), slices_.bytes(slice, k));
        } else {
            void const* two[] = {own(slice, k), sum};
            reducer_.combine(two, 2, finished && straight(k) ? my_result(k) : sum, n);
        }
        if (finished && (j == 0 || !straight(k))) store(slice, k, sum);
    }

    /// Can the last combination write this rank's own slice where the user wants it?
    bool straight(std::uint64_t k) const {
        return what_.receives == Receives::own && what_.dense() && !what_.overlaps(slices_, env_.rank(), k);
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
    /// This rank's operand of a slice, packed.
    void const* own(int slice, std::uint64_t k) {
        ConstBuffer const mine = operand(what_.args);
        if (what_.dense()) return first_byte(mine) + slices_.position(slice, k);
        env_.load(packed_.data(), mine, slices_.position(slice, k), slices_.bytes(slice, k));
        return packed_.data();
    }
    /// Where a slice is reduced in a socket: with the member that comes before its finisher.
    std::byte* shared(int socket, int slice, std::uint64_t k) {
        int const size = sockets_.size(socket), first = (sockets_.finisher_index(socket, slice) + size - 1) % size;
        int const writer = sockets_.members(socket)[static_cast<std::size_t>(first)];
        std::size_t const place = k % depth * sockets_.places() + sockets_.place(socket, slice);
        return env_.staging(writer) + place * slices_.stride();
    }

    /// Whose acknowledgement tells that all are done with this rank's memory: all who copy results from it, or the
    /// root, who has waited for the rest, or the ranks whose slices lie there.
    void find_readers() {
        int const me = env_.rank(), root = what_.args.root;
        if (what_.receives == Receives::root) {
            if (me != root) readers_.push_back(root);
        } else if (what_.receives == Receives::all) {
            for (int peer = 0; peer < env_.size(); ++peer)
                if (peer != me) readers_.push_back(peer);
        } else {
            for (int slice : sockets_.finished_by((i_ + 1) % n_))
                if (slice != me) readers_.push_back(slice);
        }
    }

    Env& env_;
    Sockets sockets_;
    Sliced<Args> what_;
    Slices slices_;
    Reducer reducer_;
    int n_, i_;                        ///< members of this rank's socket, its index there
    std::size_t working_set_ = 0;
    std::vector<int> readers_;
    std::vector<std::byte> packed_;    ///< a slice of an operand with gaps
};

}  // namespace tutti::coll
