// SPDX-License-Identifier: BSD-3-Clause
// Types of reduction kernels, and the operators and element kinds by which they are found (MPI 3.1, 5.9.2). There is
// one table per instruction set; runtime/datatype/op.cpp selects the best that the processor supports.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tutti {

/// Element kinds of the reduction kernels. Fortran and C names of the same representation share one.
enum class Basic : std::uint8_t {
    none,
    byte_,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
    float32,
    float64,
    float80,
    complex32,
    complex64,
    complex80,
    c_bool,
    fortran_logical,
    float_int,
    double_int,
    long_int,
    two_int,
    short_int,
    long_double_int,
    two_real,
    two_double,
    float128,
    complex128
};

/// inout[i] = in[i] op inout[i] for i in [0, n). `in` and `inout` do not overlap.
using BinaryKernel = void (*)(void const* in, void* inout, std::size_t n);
/// out[i] = in[0][i] op in[1][i] op … op in[k−1][i], grouped from the left; out may be one of the inputs.
using NaryKernel = void (*)(void const* const* in, int k, void* out, std::size_t n);
/// As NaryKernel, into each of the m outputs in one pass. Outputs may be inputs but must not overlap one another.
using SpreadKernel = void (*)(void const* const* in, int k, void* const* out, int m, std::size_t n);
/// As SpreadKernel, but only the first `kept` outputs stay in the cache; the others are written past it.
using StreamKernel = void (*)(void const* const* in, int k, void* const* out, int m, int kept, std::size_t n);

/// The predefined operators; none: a user-defined one. `replace` and `no_op` are for one-sided communication only.
enum class BuiltinOp : unsigned char {
    none,
    max,
    min,
    sum,
    prod,
    land,
    band,
    lor,
    bor,
    lxor,
    bxor,
    minloc,
    maxloc,
    replace,
    no_op
};

/// The kernels of one operator on one element kind; null if there are none.
struct Kernels {
    BinaryKernel binary = nullptr;
    NaryKernel nary = nullptr;
    SpreadKernel spread = nullptr;
    StreamKernel stream = nullptr;   ///< for outputs that would not stay in their reader's cache
    bool operator==(Kernels const&) const = default;
};


/// The kernels of one instruction set.
struct KernelTable {
    static constexpr int operators = static_cast<int>(BuiltinOp::no_op) + 1;
    static constexpr int kinds = static_cast<int>(Basic::complex128) + 1;

    Kernels of[operators][kinds] = {};

    constexpr void set(BuiltinOp op, Basic kind, Kernels kernels) {
        of[static_cast<int>(op)][static_cast<int>(kind)] = kernels;
    }
    constexpr Kernels get(BuiltinOp op, Basic kind) const { return of[static_cast<int>(op)][static_cast<int>(kind)]; }
};

extern KernelTable const portable_kernels;   ///< complete
#if defined(__x86_64__)
extern KernelTable const avx2_kernels;   ///< only those that benefit from vector instructions
extern KernelTable const avx512_kernels;
#endif

}   // namespace tutti
