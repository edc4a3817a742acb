// SPDX-License-Identifier: BSD-3-Clause
// Combining packed operands: the kernel of a built-in operator, or a user's function with operands laid out as it
// expects them. Operands are given in rank order; operators need not commute.
#pragma once

#include <cstring>
#include <utility>

#include "coll/blocks/reduce/laid_out.hpp"
#include "coll/env/arguments.hpp"
#include "runtime/memory/segment.hpp"

namespace tutti::coll {

class Reducer {
public:
    /// What is loaded and stored is counted in `traffic`.
    Reducer(Traffic& traffic, ReduceArgs const& args)
        : traffic_(traffic), args_(args), element_(static_cast<std::size_t>(args.type->size())) {}

    std::size_t element_bytes() const { return element_; }

    /// out = in[0] op … op in[k − 1], grouped from the left, `n` packed elements each; `out` may be an operand.
    [[gnu::always_inline]] void combine(void const* const* in, int k, void* out, std::size_t n) {
        if (n == 0) return;
        count(k, 1, n);
        if (args_.kernels.many) args_.kernels.many(in, k, out, n);
        else combine_by_user(in, k, out, n);
    }
    /// inout = in op inout, where the operand `in` is that of the lower ranks.
    void accumulate(void const* in, void* inout, std::size_t n) {
        void const* operands[] = {in, inout};
        combine(operands, 2, inout, n);
    }
    /// The same into each of m outputs (KernelM); past the cache into all but the first `kept` (KernelS). Only where
    /// there are kernels (requires_one_kind).
    void spread(void const* const* in, int k, void* const* out, int m, std::size_t n) {
        count(k, m, n);
        args_.kernels.spread(in, k, out, m, n);
    }
    void stream(void const* const* in, int k, void* const* out, int m, int kept, std::size_t n) {
        count(k, m, n);
        args_.kernels.stream(in, k, out, m, kept, n);
    }

private:
    LaidOut lay_out(void const* packed, std::int64_t n) const {
        LaidOut laid(*args_.type, n);
        args_.type->unpack(laid.origin(), n, 0, packed, static_cast<std::size_t>(n) * element_);
        return laid;
    }

    /// Grouped from the left, as the kernels do.
    [[gnu::noinline]] void combine_by_user(void const* const* in, int k, void* out, std::size_t count) const {
        auto n = static_cast<std::int64_t>(count);
        LaidOut sum = lay_out(in[0], n);
        for (int i = 1; i < k; ++i) {
            LaidOut next = lay_out(in[i], n);
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

/// Kernels that read packed operands; pairs with padding inside (MPI_DOUBLE_INT) have some of their own.
inline void find_kernels(ReduceArgs& a) {
    a.kernels = a.type->dense(2) ? a.op->kernels(*a.type) : packed_pair_kernels(a.op->builtin, a.type->basic());
}

/// This rank's own operand: `in`, or `out` in place.
inline ConstBuffer operand(ReduceArgs const& a) { return {a.in ? a.in : a.out, a.count, a.type}; }
inline Buffer result(ReduceArgs const& a) { return {a.out, a.count, a.type}; }

}   // namespace tutti::coll
