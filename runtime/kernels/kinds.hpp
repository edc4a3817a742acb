// SPDX-License-Identifier: BSD-3-Clause
// What reduction kernels are looked up by, and their types (MPI 3.1, 5.9.2).
#pragma once

#include <cstddef>
#include <cstdint>

namespace tutti {

/// The built-in element kinds that reduction kernels know; Fortran's and C's names for the same thing share one.
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
using Kernel2 = void (*)(void const* in, void* inout, std::size_t n);
/// out[i] = in[0][i] op in[1][i] op … op in[k−1][i], grouped from the left; out may be one of the inputs.
using KernelK = void (*)(void const* const* in, int k, void* out, std::size_t n);
/// The same into each of the m outputs at once, which may be inputs but not overlap one another.
using KernelM = void (*)(void const* const* in, int k, void* const* out, int m, std::size_t n);
/// The same, with all outputs but the first `kept` ones past the cache.
using KernelS = void (*)(void const* const* in, int k, void* const* out, int m, int kept, std::size_t n);

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

struct Kernels {
    Kernel2 two = nullptr;
    KernelK many = nullptr;
    KernelM spread = nullptr;
    KernelS stream = nullptr;   ///< for outputs that do not stay in their reader's cache anyway
};

}   // namespace tutti
