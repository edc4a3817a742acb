// SPDX-License-Identifier: BSD-3-Clause
// Reduction operators, built in and the user's (MPI 3.1, 5.9).
#pragma once

#include <array>
#include <cstddef>
#include <functional>

#include "runtime/datatype/datatype.hpp"
#include "runtime/objects/object.hpp"

namespace tutti {

/// inout[i] = in[i] op inout[i] for i in [0, n). `in` and `inout` do not overlap.
using Kernel2 = void (*)(void const* in, void* inout, std::size_t n);
/// out[i] = in[0][i] op in[1][i] op … op in[k−1][i], grouped from the left; out may be one of the inputs.
using KernelK = void (*)(void const* const* in, int k, void* out, std::size_t n);
/// The same into each of the m outputs at once, which may be inputs but not overlap one another.
using KernelM = void (*)(void const* const* in, int k, void* const* out, int m, std::size_t n);
/// The same, with all outputs but the first `kept` ones past the cache.
using KernelS = void (*)(void const* const* in, int k, void* const* out, int m, int kept, std::size_t n);

enum class BuiltinOp : unsigned char {
    none, max, min, sum, prod, land, band, lor, bor, lxor, bxor, minloc, maxloc, replace, no_op,
};

struct Kernels {
    Kernel2 two = nullptr;
    KernelK many = nullptr;
    KernelM spread = nullptr;
    KernelS stream = nullptr;   ///< for outputs that do not stay in their reader's cache anyway
};

/// The kernel of a built-in operator on a basic kind; null when MPI does not define it (MPI 3.1, 5.9.2). To be
/// looked up once per call; for the processor at hand. Buffers need not be aligned. No two kernels differ in a bit.
Kernel2 kernel2(BuiltinOp op, Basic kind);
KernelK kernel_k(BuiltinOp op, Basic kind);
/// For pairs that C pads (MPI_DOUBLE_INT and its like): kernels on their packed form. Null for everything else.
Kernels packed_pair_kernels(BuiltinOp op, Basic kind);
/// Bytes of one element of a basic kind in memory (pair kinds with their C padding).
std::size_t basic_size(Basic kind);

class Op final : public Object {
public:
    using User = std::function<void(void const* in, void* inout, int count, Datatype const& type)>;

    BuiltinOp builtin = BuiltinOp::none;
    bool commutative = true;
    User user;   ///< set unless built in; the front door wraps the user's function

    /// Throws Error(op) with a sentence when the operator is not defined on the type.
    void check(Datatype const& type) const { kernels(type); }
    /// The same, and returns the kernels; both null for a user's operator.
    Kernels kernels(Datatype const& type) const {
        Kernels const& k = known_[static_cast<std::size_t>(type.basic())];
        return k.two ? k : find_kernels(type);
    }
    /// inout = in op inout, element by element; `in` is the operand of the lower ranks.
    void apply(void const* in, void* inout, std::int64_t count, Datatype const& type) const;

private:
    Kernels find_kernels(Datatype const& type) const;
    mutable std::array<Kernels, 32> known_{};   ///< by kind, filled as asked for
};

}  // namespace tutti
