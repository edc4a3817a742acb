// SPDX-License-Identifier: BSD-3-Clause
// Combining packed operands: with the kernel of a built-in operator, or with a user's function, for which operands are
// unpacked as it expects them. Operands are given in rank order; operators need not be commutative. Also folding of
// slots, and the shares of reduce_scatter.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <utility>

#include "coll/env/arguments.hpp"
#include "coll/env/env.hpp"
#include "runtime/datatype/datatype.hpp"
#include "runtime/memory/segment.hpp"
#include "runtime/wait/task.hpp"

// Private memory of an algorithm in which elements have the layout of the user's datatype.

namespace tutti::coll {

class TypedBuffer {
public:
    /// No memory.
    TypedBuffer() = default;
    /// Room for `count` elements, also if bounds are negative; aligned like malloc. The memory is uninitialised.
    TypedBuffer(Datatype const& type, std::int64_t count) : TypedBuffer(type, count, nullptr) {}
    /// The same, allocated from a pool, for memory that peers read.
    TypedBuffer(Datatype const& type, std::int64_t count, FramePool* pool) {
        std::int64_t const last = type.extent() * std::max<std::int64_t>(0, count - 1);
        std::int64_t const low = std::min<std::int64_t>(0, type.true_lb()) + std::min<std::int64_t>(0, last);
        std::int64_t const high =
            std::max<std::int64_t>(0, type.true_lb() + type.true_extent()) + std::max<std::int64_t>(0, last);
        std::size_t const bytes = static_cast<std::size_t>(high - low) + 16;
        if (pool) pooled_ = PooledBytes(*pool, bytes);
        else memory_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
        std::byte* const first = (pool ? pooled_.get() : memory_.get()) - low;
        origin_ = first + (16 - reinterpret_cast<std::uintptr_t>(first) % 16) % 16;
    }

    /// The address to use as a buffer of the datatype; null if there is no memory.
    std::byte* origin() const { return origin_; }

private:
    std::unique_ptr<std::byte[]> memory_;
    PooledBytes pooled_;
    std::byte* origin_ = nullptr;
};

class Reducer {
public:
    /// Loaded and stored bytes are counted in `traffic`.
    Reducer(Traffic& traffic, ReduceArgs const& args)
        : traffic_(traffic), args_(args), element_(static_cast<std::size_t>(args.type->size())) {}

    std::size_t element_bytes() const { return element_; }

    /// out = in[0] op … op in[k − 1], associating from the left, `n` packed elements each; `out` may be one of the
    /// operands.
    [[gnu::always_inline]] void combine(void const* const* in, int k, void* out, std::size_t n) {
        if (n == 0) return;
        count(k, 1, n);
        if (args_.kernels.nary) args_.kernels.nary(in, k, out, n);
        else combine_by_user(in, k, out, n);
    }
    /// inout = in op inout, where `in` is the operand of the lower ranks.
    void accumulate(void const* in, void* inout, std::size_t n) {
        void const* operands[] = {in, inout};
        combine(operands, 2, inout, n);
    }
    /// Writes the result to each of m outputs (SpreadKernel); stream bypasses the cache for all but the first `kept`
    /// outputs (StreamKernel). Only for operators with kernels (requires_kernels).
    void spread(void const* const* in, int k, void* const* out, int m, std::size_t n) {
        count(k, m, n);
        args_.kernels.spread(in, k, out, m, n);
    }
    void stream(void const* const* in, int k, void* const* out, int m, int kept, std::size_t n) {
        count(k, m, n);
        args_.kernels.stream(in, k, out, m, kept, n);
    }

private:
    TypedBuffer unpack(void const* packed, std::int64_t n) const {
        TypedBuffer buffer(*args_.type, n);
        args_.type->unpack(buffer.origin(), n, 0, packed, static_cast<std::size_t>(n) * element_);
        return buffer;
    }

    /// Associates from the left, like the kernels.
    [[gnu::noinline]] void combine_by_user(void const* const* in, int k, void* out, std::size_t count) const {
        auto n = static_cast<std::int64_t>(count);
        TypedBuffer sum = unpack(in[0], n);
        for (int i = 1; i < k; ++i) {
            TypedBuffer next = unpack(in[i], n);
            args_.op->apply(sum.origin(), next.origin(), n, *args_.type);
            sum = std::move(next);
        }
        args_.type->pack(sum.origin(), n, 0, out, count * element_);
    }

    void count(int k, int m, std::size_t n) {
        std::size_t const bytes = n * element_;
        traffic_.loaded.add(static_cast<std::size_t>(k) * bytes);
        traffic_.stored.add(static_cast<std::size_t>(m) * bytes);
    }

    Traffic& traffic_;
    ReduceArgs const& args_;
    std::size_t element_;
};

/// Sets the kernels, which read packed operands. Pairs with padding (MPI_DOUBLE_INT) have kernels of their own.
inline void find_kernels(ReduceArgs& a) {
    a.kernels = a.type->dense(2) ? a.op->kernels(*a.type) : packed_pair_kernels(a.op->builtin, a.type->basic());
}

/// This rank's own operand: `in`, or `out` if in place.
inline ConstBuffer operand(ReduceArgs const& a) { return {a.in ? a.in : a.out, a.count, a.type}; }
inline Buffer result(ReduceArgs const& a) { return {a.out, a.count, a.type}; }

// Reduction directly from the slots of ranks [lead, last]: one pass for up to 32 operands; further operands in further
// passes.

inline constexpr int slots_per_pass = 32;

/// The uncommon cases: elements with gaps, a user's operator, or more slots than fit into one pass.
template <class Env>
[[gnu::noinline]] void fold_slots_general(Env& env, ReduceArgs const& a, int first_rank, int last, std::int64_t first,
                                          std::int64_t count) {
    constexpr int max_operands = slots_per_pass;
    void const* operands[max_operands];
    Reducer reducer(env.traffic(), a);
    std::size_t const bytes = a.bytes(), element = reducer.element_bytes(), n = static_cast<std::size_t>(count);
    bool const direct = a.kernels.nary != nullptr && a.type->dense(a.count);
    PooledVector<std::byte> packed(direct ? 0 : n * element, env.frames());
    void* out = direct ? static_cast<std::byte*>(a.out) + a.type->true_lb() : packed.data();
    int k = 0;
    for (int r = first_rank; r <= last; ++r) {
        operands[k++] = env.slot(r, bytes) + static_cast<std::size_t>(first) * element;
        if (k < max_operands && r < last) continue;
        reducer.combine(operands, k, out, n);
        operands[0] = out;
        k = 1;
    }
    if (!direct) env.store(Buffer{a.out, count, a.type}, 0, out, n * element);
}

/// Reduces `count` elements from `first` on, of the a.count elements that each slot holds. All slots must have been
/// published. The result goes to the start of `a.out`, in the user's layout.
template <class Env>
void fold_slots(Env& env, ReduceArgs const& a, int first_rank, int last, std::int64_t first, std::int64_t count) {
    bool const direct = a.kernels.nary != nullptr && a.type->dense(a.count);
    if (!direct || last - first_rank >= slots_per_pass) [[unlikely]]
        return fold_slots_general(env, a, first_rank, last, first, count);
    void const* operands[slots_per_pass];
    Reducer reducer(env.traffic(), a);
    std::size_t const at = static_cast<std::size_t>(first) * reducer.element_bytes();
    auto const slots = env.slots(a.bytes());
    for (int r = first_rank; r <= last; ++r) {
        env.count_message(r);
        operands[r - first_rank] = slots[r] + at;
    }
    reducer.combine(operands, last - first_rank + 1, static_cast<std::byte*>(a.out) + a.type->true_lb(),
                    static_cast<std::size_t>(count));
}
template <class Env>
void fold_slots(Env& env, ReduceArgs const& a, int last) {
    fold_slots(env, a, 0, last, 0, a.count);
}

// Shares: where the share of each rank is in the vector of a reduce_scatter, and where its result is stored.

class Shares {
public:
    Shares(ReduceScatterArgs const& a, FramePool& frames) : a_(a), starts_(a.counts.size() + 1, frames) {
        // Counts are ints; their sums may be larger.
        std::inclusive_scan(a.counts.begin(), a.counts.end(), starts_.begin() + 1, std::plus<>(), std::int64_t{0});
        for (std::int64_t& start : starts_) start *= a.type->size();
    }

    /// Where a rank's share starts, in bytes of the packed vector; start(size) is the end of the vector.
    std::size_t start(int rank) const { return static_cast<std::size_t>(starts_[static_cast<std::size_t>(rank)]); }
    std::size_t end(int rank) const { return start(rank + 1); }
    std::size_t bytes(int rank) const { return end(rank) - start(rank); }

    /// The result of this rank; `rank` must be its own rank.
    Buffer result(int rank) const { return {a_.out, a_.counts[static_cast<std::size_t>(rank)], a_.type}; }

    /// Copies this rank's packed sum into its result, unless it was built there.
    template <class Env>
    void deliver(Env& env, std::byte const* sum) const {
        Buffer const to = result(env.rank());
        if (!to.type->dense(to.count) || sum != first_byte(to)) env.store(to, 0, sum, bytes(env.rank()));
    }

private:
    ReduceScatterArgs const& a_;
    PooledVector<std::int64_t> starts_;
};

}   // namespace tutti::coll
