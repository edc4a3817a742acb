// SPDX-License-Identifier: BSD-3-Clause
// Sliced reductions on one node, in the style of YHCCL: combining operands two at a time, the slices of a vector, the
// ranks by socket, and the two-level reduction that is built from them.
//
// fold_from combines operands two at a time, as reductions in the literature do: k operands take k − 1 passes with two
// loads and a store per element. (Tutti's own algorithms combine all operands in one pass: k loads and one store.)
#pragma once

#include <algorithm>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include "coll/blocks/movement.hpp"
#include "coll/blocks/reducer.hpp"
#include "coll/env/arguments.hpp"
#include "coll/env/env.hpp"
#include "coll/env/group_layout.hpp"

namespace tutti::coll {

/// out = in[0] op … op in[k − 1], starting with in[from], then those below it, then those above: the order of the
/// operands is kept, and `out` may be in[from] itself. `n` elements, `piece` bytes of them at a time so that the sum
/// stays in the innermost cache. A single operand is copied.
inline void fold_from(Reducer& reducer, std::span<void const* const> in, std::size_t from, void* out, std::size_t n,
                      std::size_t piece) {
    std::size_t const element = std::max<std::size_t>(1, reducer.element_bytes()),
                      max_elements = std::max<std::size_t>(1, piece / element);
    for (std::size_t first = 0; first < n; first += max_elements) {
        std::size_t const count = std::min(max_elements, n - first), at = first * element;
        auto operand = [&](std::size_t i) { return static_cast<std::byte const*>(in[i]) + at; };
        std::byte* const sum = static_cast<std::byte*>(out) + at;
        void const* partial = operand(from);
        if (in.size() == 1) reducer.combine(&partial, 1, sum, count);
        auto combine = [&](void const* lower, void const* upper) {
            void const* two[] = {lower, upper};
            reducer.combine(two, 2, sum, count);
            partial = sum;
        };
        for (std::size_t i = from; i-- > 0;) combine(operand(i), partial);
        for (std::size_t i = from + 1; i < in.size(); ++i) combine(partial, operand(i));
    }
}

// How sliced reductions cut a vector: into rounds, and each round into one slice per rank, which that rank finishes.
// Slices of allreduce and reduce are adjacent; each slice of reduce_scatter lies in its rank's share. YHCCL (Peng et
// al., SC 2023), section 5.1: I = max(min(s/p, Imax), a cache line).

inline constexpr Parameter largest_slice_parameter = {"slice", 131072, "maximum bytes per slice; a round has p slices"};

/// Elements [first, first + count) of the packed vector.
struct Slice {
    std::size_t first, count;
};

class Slices {
public:
    /// `largest`: Imax in bytes.
    Slices(ReduceArgs const& a, int ranks, std::size_t largest)
        : element_(std::max<std::size_t>(1, static_cast<std::size_t>(a.type->size()))),
          ranks_(static_cast<std::size_t>(ranks)), all_(a.bytes() / element_), largest_(largest) {
        elements_ = cut((all_ + ranks_ - 1) / ranks_);
        rounds_ = (all_ + ranks_ * elements_ - 1) / (ranks_ * elements_);
    }
    Slices(ReduceScatterArgs const& a, int ranks, std::size_t largest)
        : element_(std::max<std::size_t>(1, static_cast<std::size_t>(a.type->size()))),
          ranks_(static_cast<std::size_t>(ranks)), all_(a.bytes() / element_), largest_(largest), starts_(ranks_ + 1) {
        // Counts are ints; their sums may be larger.
        std::inclusive_scan(a.counts.begin(), a.counts.end(), starts_.begin() + 1, std::plus<>(), std::size_t{0});
        auto const longest = static_cast<std::size_t>(*std::max_element(a.counts.begin(), a.counts.end()));
        elements_ = cut(longest);
        rounds_ = all_ == 0 ? 0 : (longest + elements_ - 1) / elements_;
    }

    std::size_t element() const { return element_; }
    std::uint64_t rounds() const { return rounds_; }
    /// The maximum number of elements of a slice, and the whole cache lines that they occupy, in bytes.
    std::size_t elements() const { return elements_; }
    std::size_t stride() const { return (elements_ * element_ + cache_line - 1) / cache_line * cache_line; }

    /// True if the slices of a round are adjacent; `round` then covers all of them.
    bool are_adjacent() const { return starts_.empty(); }
    Slice round(std::uint64_t k) const {
        std::size_t const first = k * ranks_ * elements_;
        return {first, std::min(ranks_ * elements_, all_ - first)};
    }

    Slice of(int rank, std::uint64_t k) const {
        auto const r = static_cast<std::size_t>(rank);
        if (!are_adjacent()) return piece(starts_[r], starts_[r + 1], k * elements_, elements_);
        Slice const all = round(k);
        std::size_t const each = width(k);
        return piece(all.first, all.first + all.count, r * each, each);
    }
    /// The slice in bytes of the packed vector.
    std::size_t position(int rank, std::uint64_t k) const { return of(rank, k).first * element_; }
    std::size_t bytes(int rank, std::uint64_t k) const { return of(rank, k).count * element_; }
    /// Offset of a rank's slice when the slices of a round are packed one after the other.
    std::size_t offset(int rank, std::uint64_t k) const { return static_cast<std::size_t>(rank) * width(k) * element_; }

private:
    /// Elements of a slice if each rank has `each` elements.
    std::size_t cut(std::size_t each) const {
        std::size_t const line = std::max<std::size_t>(1, cache_line / element_);
        auto round_up = [line](std::size_t n) { return (n + line - 1) / line * line; };
        return std::max(std::min(round_up(each), largest_ / element_ / line * line), line);
    }
    /// The last round divides what is left.
    std::size_t width(std::uint64_t k) const {
        if (!are_adjacent() || k + 1 < rounds_) return elements_;
        return cut((round(k).count + ranks_ - 1) / ranks_);
    }
    static Slice piece(std::size_t start, std::size_t end, std::size_t before, std::size_t max_elements) {
        std::size_t const first = std::min(end, start + before);
        return {first, std::min(max_elements, end - first)};
    }

    std::size_t element_, ranks_, all_, largest_, elements_ = 1;
    std::uint64_t rounds_ = 0;
    std::vector<std::size_t> starts_;   ///< of the shares, in elements; empty if slices are adjacent
};

/// Which ranks receive the results of which slices: each rank its own, each rank all, the root all.
enum class Receives { own, all, root };

template <class Args>
struct SlicedCall {
    Args const& args;
    Receives receives;
    bool dense() const { return args.type->dense(args.count); }
    /// True if a rank receives results of other ranks.
    bool collects(int rank) const {
        return receives == Receives::all || (receives == Receives::root && rank == args.root);
    }
    /// Where slice `k` of this rank's own result starts in its result buffer, in bytes.
    std::size_t result_position(Slices const& slices, int rank, std::uint64_t k) const {
        return receives == Receives::own ? k * slices.elements() * slices.element() : slices.position(rank, k);
    }
    Buffer result(int rank) const {
        if constexpr (std::is_same_v<Args, ReduceScatterArgs>)
            return {args.out, args.counts[static_cast<std::size_t>(rank)], args.type};
        else return {args.out, args.count, args.type};
    }
    /// True if in place this rank's result would overwrite a part of its slice that it has not read yet. (This happens
    /// only if the counts differ, so that a share is closer to the vector's start than a slice is long.)
    bool overlaps(Slices const& slices, int rank, std::uint64_t k) const {
        std::size_t const from = slices.position(rank, k), to = result_position(slices, rank, k);
        return !args.in && from != to && from - to < slices.bytes(rank, k);
    }
};

// The ranks of a communicator by socket, for two-level reductions: in each socket one member finishes a slice, then the
// slice's own rank combines the results of the sockets; in its own socket it is that member itself. Sockets are the
// teams directly below the outermost one; a flat hierarchy is one socket. They need not have the same size. YHCCL (Peng
// et al., SC 2023), section 3.3, socket-aware optimisation.

class Sockets : public NodePartition {
public:
    Sockets(topo::Hierarchy const& tree, int rank)
        : NodePartition(tree, rank), ranks_(at(tree.size())), my_index_(index_of(rank)) {
        assign_slices();
    }

    int my_index() const { return my_index_; }
    /// The index of the member of a socket that finishes a slice.
    int finisher_index(int socket, int slice) const { return index_of(slice) * size(socket) / size(part_of(slice)); }
    int finisher(int socket, int slice) const { return members(socket)[at(finisher_index(socket, slice))]; }
    /// The slices that a member of this rank's socket finishes, ascending.
    std::span<int const> finished_by(int index) const { return finished_[at(index)]; }
    /// The index of a slice among those of its finisher in a socket, and the maximum number of such slices.
    std::size_t slot_index(int socket, int slice) const { return slot_index_[at(socket) * ranks_ + at(slice)]; }
    std::size_t max_slots() const { return max_slots_; }

private:
    static std::size_t at(int i) { return static_cast<std::size_t>(i); }

    void assign_slices() {
        slot_index_.resize(at(count()) * ranks_);
        finished_.resize(at(size(own_part())));
        for (int socket = 0; socket < count(); ++socket) {
            std::vector<std::size_t> slot_counts(at(size(socket)));
            for (int slice = 0; slice < static_cast<int>(ranks_); ++slice) {
                int const index = finisher_index(socket, slice);
                max_slots_ = std::max(max_slots_, slot_counts[at(index)] + 1);
                slot_index_[at(socket) * ranks_ + at(slice)] = slot_counts[at(index)]++;
                if (socket == own_part()) finished_[at(index)].push_back(slice);
            }
        }
    }

    std::size_t ranks_, max_slots_ = 0;
    std::vector<std::vector<int>> finished_;
    std::vector<std::size_t> slot_index_;
    int my_index_;
};

// What sliced reductions on one node share. In each round, the members of every socket reduce p slices into shared
// memory, as the algorithm defines; with several sockets, each rank then combines the sockets' results of its own
// slice; finally the ranks that receive results of others copy them out. YHCCL (Peng et al., SC 2023), sections 3.3 and
// 5.1.
//
// Memory is two rounds deep, so that rounds overlap. Flags, each with one writer, replace the paper's atomic operations
// and barriers: a rank waits for a slice, not for all ranks. Copies into shared memory are temporal, those into results
// are not (section 4.3.1); the working set is that of the paper, with the largest slice (5.4).
//
// Counters: ready[in_socket]: what is reduced in the socket, in the algorithm's steps; ready[complete]: rounds in which
// this rank's own slice is reduced; ack[0]: rounds that this rank has finished. A rank's memory is overwritten in round
// k when all its last readers have acknowledged round k − 2.

/// The bytes of all operands and results of a reduction of `bytes` bytes on `p` ranks.
constexpr std::size_t operands_and_results(std::size_t bytes, Receives receives, std::size_t p) {
    return p * bytes + (receives == Receives::all ? p : 1) * bytes;
}
/// The working set of a reduction by chains in `m` sockets, with slices of at most `largest` bytes: W = s·p + s·p +
/// m·p·Imax in an allreduce. YHCCL (Peng et al., SC 2023), sections 4.3.1 and 5.4.
constexpr std::size_t working_set_of_chains(std::size_t bytes, Receives receives, std::size_t p, std::size_t m,
                                            std::size_t largest) {
    return operands_and_results(bytes, receives, p) + m * p * std::min(largest, bytes);
}

/// How the members of a socket reduce a slice. chain: one after the other, with the sum in the memory of the member
/// before the one that finishes it. leader: one member alone, from the staged operands of all members, into its own
/// memory.
enum class SocketMethod { chain, leader };

template <class Env, class Args>
class SlicedReduction {
public:
    FramePool& frames() { return env_.frames(); }

protected:
    static constexpr std::uint64_t depth = 2;
    enum Level { staged, in_socket, complete };

    /// `largest`: maximum size of a slice in bytes; `piece`: bytes combined at a time; `copy`: how copies are made.
    SlicedReduction(Env& env, topo::Hierarchy const& tree, Args const& args, Receives receives, SocketMethod method,
                    std::size_t largest, std::size_t piece, CopyMode copy)
        : env_(env), sockets_(tree, env.rank()), call_{args, receives}, method_(method), piece_(piece), copy_(copy),
          slices_(args, env.size(), largest), reducer_(env.traffic(), args),
          member_count_(sockets_.size(sockets_.own_part())), member_index_(sockets_.my_index()) {
        env.reserve_staging(depth * buffers() * slices_.stride());
        std::size_t const p = static_cast<std::size_t>(env.size()), m = static_cast<std::size_t>(sockets_.count());
        working_set_ = method == SocketMethod::chain
                           ? working_set_of_chains(args.bytes(), receives, p, m, largest)
                           : operands_and_results(args.bytes(), receives, p) + depth * p * p * slices_.stride();
        find_readers();
    }

    /// `reduce(k)`: round k within this rank's socket.
    template <class Reduce>
    Task run_rounds(Reduce reduce) {
        env_.add_staging();
        for (std::uint64_t k = 0; k < slices_.rounds(); ++k) {
            if (k >= depth) co_await await_acks(env_, std::span<int const>(readers_), 0, k - depth + 1);
            co_await reduce(k);
            if (sockets_.count() > 1) co_await combine_sockets(k);
            if (call_.receives != Receives::own) env_.ready(complete, k + 1);
            if (call_.collects(env_.rank())) co_await collect(k);
            env_.ack(0, k + 1);
        }
        co_await await_acks(env_, std::span<int const>(readers_), 0, slices_.rounds());
    }

    /// Where the memory for round k begins: first the staged operands, then the sums.
    std::byte* round_in(std::byte* staging, std::uint64_t k) const {
        return staging + k % depth * buffers() * slices_.stride();
    }
    /// Where a slice is reduced in a socket.
    std::byte* sum_of(int socket, int slice, std::uint64_t k) {
        int const size = sockets_.size(socket), before = method_ == SocketMethod::chain ? size - 1 : 0;
        int const writer = (sockets_.finisher_index(socket, slice) + before) % size;
        std::size_t const slot = staged_slices() + sockets_.slot_index(socket, slice);
        std::byte* const memory = env_.staging(sockets_.members(socket)[static_cast<std::size_t>(writer)]);
        return round_in(memory, k) + slot * slices_.stride();
    }
    /// True if the last reduction of this rank's own slice may write directly to the user's result: no operand there
    /// may still be read.
    bool is_direct(std::uint64_t k) const {
        return call_.receives == Receives::own && call_.dense() &&
               (method_ == SocketMethod::leader || !call_.overlaps(slices_, env_.rank(), k));
    }
    std::byte* my_result(std::uint64_t k) {
        return first_byte(call_.result(env_.rank())) + call_.result_position(slices_, env_.rank(), k);
    }
    /// Copies a finished slice to the user's result.
    void store(int slice, std::uint64_t k, void const* from) {
        Buffer const to = call_.result(env_.rank());
        std::size_t const at = call_.result_position(slices_, slice, k), bytes = slices_.bytes(slice, k);
        copy_out(env_, to, at, from, bytes, working_set_, copy_);
    }

    Env& env_;
    Sockets sockets_;
    SlicedCall<Args> call_;
    SocketMethod method_;
    std::size_t piece_;
    CopyMode copy_;
    Slices slices_;
    Reducer reducer_;
    int member_count_, member_index_;   ///< number of members of this rank's socket, its index there

private:
    /// The number of slices that a rank stages in a round, and the number of slices that it has memory for.
    std::size_t staged_slices() const {
        return method_ == SocketMethod::leader ? static_cast<std::size_t>(env_.size()) : 0;
    }
    std::size_t buffers() const { return staged_slices() + sockets_.max_slots(); }

    /// The second level: combines the sockets' results of this rank's slice.
    Task combine_sockets(std::uint64_t k) {
        int const me = env_.rank();
        std::vector<void const*> parts;
        for (int socket = 0; socket < sockets_.count(); ++socket) {
            auto const steps = static_cast<std::uint64_t>(method_ == SocketMethod::chain ? sockets_.size(socket) : 1);
            int const finisher = sockets_.finisher(socket, me);
            if (finisher != me) co_await env_.until_ready(finisher, in_socket, (k + 1) * steps);
            parts.push_back(sum_of(socket, me, k));
        }
        void* const out = is_direct(k) ? my_result(k) : sum_of(sockets_.own_part(), me, k);
        fold_from(reducer_, parts, static_cast<std::size_t>(sockets_.own_part()), out, slices_.of(me, k).count, piece_);
        if (call_.receives == Receives::own && !is_direct(k)) store(me, k, out);
    }

    Task collect(std::uint64_t k) {
        for (int i = 0, slice = env_.rank(); i < env_.size(); ++i, slice = (slice + 1) % env_.size()) {
            if (i > 0) co_await env_.until_ready(slice, complete, k + 1);
            store(slice, k, sum_of(sockets_.part_of(slice), slice, k));
        }
    }

    /// Finds the ranks whose acknowledgements imply that all ranks have finished with this rank's memory: all ranks
    /// that copy results from it; or the root, which has waited for the others; or the readers of operands and the
    /// ranks whose slices lie there.
    void find_readers() {
        if (call_.receives == Receives::root) {
            readers_.push_back(call_.args.root);
        } else if (call_.receives == Receives::all) {
            for (int peer = 0; peer < env_.size(); ++peer) readers_.push_back(peer);
        } else if (method_ == SocketMethod::chain) {   // the next member reads only what others read after it
            for (int slice : sockets_.finished_by((member_index_ + 1) % member_count_)) readers_.push_back(slice);
        } else {
            readers_.assign(sockets_.members().begin(), sockets_.members().end());
            for (int slice : sockets_.finished_by(member_index_))
                if (sockets_.part_of(slice) != sockets_.own_part()) readers_.push_back(slice);
        }
    }

    std::size_t working_set_ = 0;
    std::vector<int> readers_;
};

}   // namespace tutti::coll
