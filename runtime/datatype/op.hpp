// SPDX-License-Identifier: BSD-3-Clause
// Reduction operators, built in and the user's (MPI 3.1, 5.9).
#pragma once

#include <array>
#include <cstddef>
#include <functional>

#include "runtime/datatype/datatype.hpp"
#include "runtime/kernels/kinds.hpp"
#include "runtime/objects/object.hpp"

namespace tutti {

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
    User user;   ///< set unless built in; mpi_h/ wraps the user's function

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

}   // namespace tutti
