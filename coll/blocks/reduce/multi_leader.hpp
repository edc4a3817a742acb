// SPDX-License-Identifier: BSD-3-Clause
// Partitioned parallel reduction: in each round every rank lays its operand out in shared memory and leads some slices,
// which it reduces from the memories of all members of its socket, two operands at a time in their order; with several
// sockets each then combines what they have of its slice. Two steps per round and one between sockets; s bytes copied
// by each rank, p − m combinations of s inside sockets and m − 1 between them. DPML (Bayatpour et al., SC 2017); by
// sockets: YHCCL (Peng et al., SC 2023), section 5.1.
//
// Memory is two rounds deep. Counters: ready[laid_out], ready[inside] (this rank's slices are reduced in its socket),
// ready[whole] (its own slice is reduced); ack[0] rounds that it is through with. A rank lays out round k when all who
// read its memory have acknowledged round k − 2.
#pragma once

#include "coll/blocks/reduce/pairwise_fold.hpp"
#include "coll/blocks/reduce/slices.hpp"
#include "coll/blocks/reduce/sockets.hpp"

namespace tutti::coll {

/// How a leader begins its sum: with a copy of the first operand, as DPML is published and counted, or with the first
/// combination.
enum class Sum { of_copy, of_two };

template <class Env, class Args>
class MultiLeader {
public:
    /// `largest`: bytes of a slice at most; `piece`: bytes that are reduced at a time.
    MultiLeader(Env& env, topo::Hierarchy const& tree, Args const& args, Receives receives, Sum sum,
                std::size_t largest, std::size_t piece)
        : env_(env), sockets_(tree, env.rank()), what_{args, receives}, sum_(sum), piece_(piece),
          slices_(args, env.size(), std::min(largest, env.staging_bytes() / (depth * buffers()))),
          reducer_(env.traffic(), args) {
        env.reserve_staging(depth * buffers() * slices_.stride());
        std::size_t const p = static_cast<std::size_t>(env.size());
        working_set_ = p * args.bytes() + (receives == Receives::all ? p : 1) * args.bytes() +
                       depth * p * p * slices_.stride();
        find_readers();
    }

    FramePool& frames() { return env_.frames(); }
    Task run() {
        env_.add_staging();
        for (std::uint64_t k = 0; k < slices_.rounds(); ++k) {
            if (k >= depth) co_await freed(k - depth + 1);
            lay_out(k);
            env_.ready(laid_out, k + 1);
            for (int member : sockets_.members())
                if (member != env_.rank()) co_await env_.until_ready(member, laid_out, k + 1);
            for (int slice : sockets_.finished_by(sockets_.my_index())) lead(slice, k);
            if (sockets_.count() > 1) co_await between(k);
            if (what_.receives != Receives::own) env_.ready(whole, k + 1);
            if (what_.collects(env_.rank())) co_await collect(k);
            env_.ack(0, k + 1);
        }
        co_await freed(slices_.rounds());
    }

private:
    static constexpr std::uint64_t depth = 2;
    enum Level { laid_out, inside, whole };

    /// Waits until nobody reads what lay in this rank's memory in the first `rounds` rounds.
    Task freed(std::uint64_t rounds) {
        for (int reader : readers_)
            if (rounds > 0) co_await env_.until_ack(reader, 0, rounds);
    }

    Task between(std::uint64_t k) {
        int const me = env_.rank(), mine = sockets_.mine();
        env_.ready(inside, k + 1);
        std::vector<void const*> parts;
        for (int socket = 0; socket < sockets_.count(); ++socket) {
            if (socket != mine) co_await env_.until_ready(sockets_.finisher(socket, me), inside, k + 1);
            parts.push_back(sum_of(socket, me, k));
        }
        void* const out = straight() ? my_result(k) : sum_of(mine, me, k);
        fold_from(reducer_, parts, static_cast<std::size_t>(mine), out, slices_.of(me, k).count, piece_);
        if (what_.receives == Receives::own && !straight()) store(me, k, out);
    }

    Task collect(std::uint64_t k) {
        for (int i = 0, slice = env_.rank(); i < env_.size(); ++i, slice = (slice + 1) % env_.size()) {
            if (i > 0) co_await env_.until_ready(slice, whole, k + 1);
            store(slice, k, sum_of(sockets_.socket_of(slice), slice, k));
        }
    }

    void lay_out(std::uint64_t k) {
        ConstBuffer const mine = operand(what_.args);
        std::byte* const to = laid(env_.staging(), k);
        if (slices_.adjoin()) {
            Slice const all = slices_.round(k);
            return env_.stage(to, mine, all.first * slices_.element(), all.count * slices_.element());
        }
        for (int slice = 0; slice < env_.size(); ++slice)
            env_.stage(to + slices_.offset(slice, k), mine, slices_.position(slice, k), slices_.bytes(slice, k));
    }

    /// Reduces a slice of all members of the socket.
    void lead(int slice, std::uint64_t k) {
        bool const last = sockets_.count() == 1 && what_.receives == Receives::own;
        std::byte* const out = last && straight() ? my_result(k) : sum_of(sockets_.mine(), slice, k);
        std::size_t const n = slices_.of(slice, k).count, most = std::max<std::size_t>(1, piece_ / slices_.element());
        std::vector<std::byte const*> parts;
        for (int member : sockets_.members())
            parts.push_back(laid(env_.staging(member), k) + slices_.offset(slice, k));
        for (std::size_t first = 0; first < n; first += most)
            add_up(parts, out, first * slices_.element(), std::min(most, n - first));
        if (last && !straight()) store(slice, k, out);
    }

    void add_up(std::vector<std::byte const*> const& parts, std::byte* out, std::size_t at, std::size_t n) {
        void const* first = parts[0] + at;
        if (sum_ == Sum::of_copy || parts.size() == 1) {
            env_.copy(out + at, first, n * slices_.element(), 0);
            first = out + at;
        }
        for (std::size_t i = 1; i < parts.size(); ++i, first = out + at) {
            void const* two[] = {first, parts[i] + at};
            reducer_.combine(two, 2, out + at, n);
        }
    }

    /// Does what is reduced last, this rank's own slice, lie at once where the user wants it?
    bool straight() const { return what_.receives == Receives::own && what_.dense(); }
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

    /// In everybody's memory: for each round under way an operand of p slices, and the sums of the slices that it
    /// leads.
    std::size_t buffers() const { return static_cast<std::size_t>(env_.size()) + sockets_.places(); }
    std::byte* laid(std::byte* staging, std::uint64_t k) const {
        return staging + k % depth * buffers() * slices_.stride();
    }
    std::byte* sum_of(int socket, int slice, std::uint64_t k) {
        std::size_t const place = static_cast<std::size_t>(env_.size()) + sockets_.place(socket, slice);
        return laid(env_.staging(sockets_.finisher(socket, slice)), k) + place * slices_.stride();
    }

    /// Whose acknowledgement tells that all are done with this rank's memory: all who copy results from it, or the
    /// root, who has waited for the rest, or its socket and the ranks whose slices it leads.
    void find_readers() {
        int const me = env_.rank(), root = what_.args.root;
        auto add = [&](int rank) {
            if (rank != me) readers_.push_back(rank);
        };
        if (what_.receives == Receives::root) return add(root);
        if (what_.receives == Receives::all) {
            for (int peer = 0; peer < env_.size(); ++peer) add(peer);
            return;
        }
        for (int member : sockets_.members()) add(member);
        for (int slice : sockets_.finished_by(sockets_.my_index()))
            if (sockets_.socket_of(slice) != sockets_.mine()) add(slice);
    }

    Env& env_;
    Sockets sockets_;
    Sliced<Args> what_;
    Sum sum_;
    std::size_t piece_;
    Slices slices_;
    Reducer reducer_;
    std::size_t working_set_ = 0;
    std::vector<int> readers_;
};

}  // namespace tutti::coll
