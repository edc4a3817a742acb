// SPDX-License-Identifier: BSD-3-Clause
// Scan and exscan with messages: the buffers of a segment's operand and prefix, recursive doubling, and the linear
// algorithm.
//
// PrefixBuffers: operand and prefix of a segment lie in the user's buffers if these are contiguous, otherwise packed in
// private memory, two prefixes at a time.
#pragma once

#include <array>
#include <span>

#include "coll/blocks/messages.hpp"
#include "coll/blocks/reducer.hpp"
#include "coll/env/env.hpp"
#include "runtime/wait/task.hpp"

namespace tutti::coll {

template <class Env>
class PrefixBuffers {
public:
    PrefixBuffers(Env& env, ReduceArgs const& a, Segments segments, bool inclusive)
        : env_(env), a_(a), segments_(segments), inclusive_(inclusive), dense_(a.type->dense(a.count)),
          stride_((segments.length + cache_line - 1) / cache_line * cache_line) {
        bool const direct = dense_ && a.in;   // in place the operand would be overwritten while others read it
        std::size_t const strides = (direct ? 0 : 1) + (dense_ ? 0 : std::min<std::size_t>(2, segments.count));
        if (strides > 0) scratch_ = PooledBytes(env.frames(), strides * stride_);
    }

    /// This rank's packed operand of segment k. It may lie where the prefix will.
    std::byte const* own_operand(std::uint64_t k) {
        if (dense_) return first_byte(operand(a_)) + segments_.at(k);
        env_.load(scratch_.get(), operand(a_), segments_.at(k), segments_.bytes(k));
        return scratch_.get();
    }

    /// The operand, separate from the prefix; for scan, the prefix is initialised with a copy.
    std::byte const* begin_segment(std::uint64_t k) {
        std::size_t const n = segments_.bytes(k);
        std::byte const* mine = own_operand(k);
        if (mine == prefix(k)) {
            env_.copy(scratch_.get(), mine, n, 0);
            return scratch_.get();
        }
        if (inclusive_) env_.copy(prefix(k), mine, n, 0);
        return mine;
    }

    std::byte* prefix(std::uint64_t k) {
        if (dense_) return first_byte(result(a_)) + segments_.at(k);
        return scratch_.get() + (1 + k % 2) * stride_;
    }

    /// Called when the prefix of segment k is complete: stores it in the result, unless it lies there.
    void finish_segment(std::uint64_t k) {
        bool const has_prefix = inclusive_ || env_.rank() > 0;
        if (!dense_ && has_prefix) env_.store(result(a_), segments_.at(k), prefix(k), segments_.bytes(k));
    }

private:
    Env& env_;
    ReduceArgs const& a_;
    Segments segments_;
    bool inclusive_, dense_;
    std::size_t stride_;
    PooledBytes scratch_;   ///< one operand, two prefixes
};

// Scan and exscan by recursive doubling with messages, over any list of ranks. In step k, a rank and the one whose
// place differs in bit k exchange the sums of their blocks of 2^k places; the one with the higher place also adds what
// it receives to its prefix. Finally, the first rank has the sum of all. Operators need not be commutative. ⌈log2 n⌉
// exchanges of s bytes; each rank loads up to 4·s and stores 2·s bytes per step.
//
// Two alternating sums: while a partner reads one, the other is written. Zhu, Goodell, Gropp, Thakur, "Hierarchical
// collectives in MPICH2", EuroPVM/MPI 2009, section 3.5, steps 1 to 3.

template <class Env>
class PrefixDoubling {
public:
    /// Handles up to `max_bytes` bytes at a time, among `ranks`, in which this rank has the index `index`.
    PrefixDoubling(Env& env, Messages<Env>& m, ReduceArgs const& a, std::span<int const> ranks, int index,
                   std::size_t max_bytes)
        : env_(env), m_(m), reducer_(env.traffic(), a), element_(element_of(a)), ranks_(ranks), index_(index) {
        for (auto& sum : sums_) sum = PooledBytes(env.frames(), max_bytes);
    }
    FramePool& frames() { return env_.frames(); }

    /// `own`: this rank's packed operand, which is not modified. Inclusive: `prefix` must contain a copy of it and
    /// becomes the sum of all ranks up to this one. Exclusive: `prefix` becomes the sum of the ranks before this one,
    /// and is not modified at the first rank.
    Task run(std::byte const* own, std::byte* prefix, std::size_t bytes, bool inclusive) {
        bool has_prefix = inclusive;   // true if `prefix` has a value
        sum_ = own;
        for (int bit = 1; bit < count(); bit *= 2) {
            int const partner = index_ ^ bit;
            if (partner >= count()) continue;
            bool const from_lower = partner < index_, sum_needed = needs_sum_after(bit);
            std::byte const* mine = sum_;
            std::byte* next = sums_[mine == sums_[0].get() ? 1 : 0].get();
            auto use = [&](std::byte const* from, std::size_t at, std::size_t k) {
                void const* operands[] = {from_lower ? from : mine + at, from_lower ? mine + at : from};
                if (sum_needed) reducer_.combine(operands, 2, next + at, k / element_);
                if (from_lower && has_prefix) reducer_.accumulate(from, prefix + at, k / element_);
                else if (from_lower) env_.copy(prefix + at, from, k, 0);
            };
            int const rank = ranks_[static_cast<std::size_t>(partner)];
            co_await m_.exchange(rank, packed_part(mine, bytes), rank, bytes, use);
            has_prefix = has_prefix || from_lower;
            sum_ = next;
        }
    }

    /// Returns the sum of all ranks; at the first rank only.
    std::byte const* total() const { return sum_; }

private:
    int count() const { return static_cast<int>(ranks_.size()); }
    /// True if the sum is needed after the step of this bit, by a further partner or as the total.
    bool needs_sum_after(int bit) const {
        if (index_ == 0) return true;
        for (bit *= 2; bit < count(); bit *= 2)
            if ((index_ ^ bit) < count()) return true;
        return false;
    }

    Env& env_;
    Messages<Env>& m_;
    Reducer reducer_;
    std::size_t element_;
    std::span<int const> ranks_;
    int index_;
    std::array<PooledBytes, 2> sums_;
    std::byte const* sum_ = nullptr;   ///< of the block that contains this rank
};

// Linear scan and exscan: the prefix goes from rank to rank in whole messages.

template <class Env>
Task prefix_linear(Env& env, ReduceArgs const& a, bool inclusive) {
    std::size_t const element = element_of(a), bytes = a.bytes();
    Messages<Env> m(env, element);
    Reducer reducer(env.traffic(), a);
    PrefixBuffers<Env> buffers(env, a, Segments(bytes, element, one_segment), inclusive);
    int const rank = env.rank();
    bool const last = rank + 1 == env.size(), sums = !inclusive && rank > 0 && !last;
    if (bytes == 0) co_return;
    std::byte const* own = buffers.own_operand(0);
    std::byte* prefix = buffers.prefix(0);
    if (inclusive && rank == 0 && own != prefix) env.copy(prefix, own, bytes, 0);
    // In exscan, what the next rank receives is not this rank's result.
    PooledBytes const sum = sums ? PooledBytes(env.frames(), bytes) : PooledBytes();
    auto add = [&](std::byte const* from, std::size_t at, std::size_t n) {
        void const* operands[] = {from, own + at};
        if (inclusive || sums) reducer.combine(operands, 2, (inclusive ? prefix : sum.get()) + at, n / element);
        if (!inclusive) env.copy(prefix + at, from, n, 0);
    };
    if (rank > 0) co_await m.receive(rank - 1, bytes, add);
    std::byte const* next = inclusive ? prefix : sums ? sum.get() : own;
    if (!last) co_await m.send(rank + 1, packed_part(next, bytes));
    buffers.finish_segment(0);
    co_await m.close();
}

}   // namespace tutti::coll
