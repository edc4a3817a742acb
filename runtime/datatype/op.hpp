// SPDX-License-Identifier: BSD-3-Clause
// Reduction operators, built-in and user-defined (MPI 3.1, 5.9).
#pragma once

#include <array>
#include <cstddef>
#include <functional>

#include "runtime/datatype/datatype.hpp"
#include "runtime/kernels/reduce.hpp"
#include "runtime/objects/object.hpp"

namespace tutti {

/// Return this processor's kernel of a built-in operator for a basic kind (binary_kernel: 2 operands; nary_kernel: any
/// number), or null if MPI does not define the operator on it (MPI 3.1, 5.9.2). The lookup should happen once per MPI
/// call. Buffers need not be aligned. Results of different kernels are bitwise identical.
BinaryKernel binary_kernel(BuiltinOp op, Basic kind);
NaryKernel nary_kernel(BuiltinOp op, Basic kind);
/// Returns the kernels for the packed form of pairs that C pads (MPI_DOUBLE_INT and similar); null for other kinds.
Kernels packed_pair_kernels(BuiltinOp op, Basic kind);
/// Returns the size of one element of a basic kind in memory in bytes (pair kinds with their C padding).
std::size_t basic_size(Basic kind);

class Op final : public Object {
public:
    /// A user's function: inout = in op inout for `count` elements of `type`.
    using User = std::function<void(void const* in, void* inout, int count, Datatype const& type)>;

    BuiltinOp builtin = BuiltinOp::none;
    bool commutative = true;
    User user;   ///< set unless built-in; mpi_h/ wraps the user's function

    /// Throws Error(op) if the operator is not defined on the type.
    void check(Datatype const& type) const { kernels(type); }
    /// As check, and returns the kernels, which are null for a user-defined operator.
    Kernels kernels(Datatype const& type) const {
        Kernels const& k = known_[static_cast<std::size_t>(type.basic())];
        return k.binary ? k : find_kernels(type);
    }
    /// Computes inout = in op inout element by element; `in` is the operand of the lower ranks.
    void apply(void const* in, void* inout, std::int64_t count, Datatype const& type) const;

private:
    Kernels find_kernels(Datatype const& type) const;
    mutable std::array<Kernels, 32> known_{};   ///< by kind, filled on demand
};

}   // namespace tutti
