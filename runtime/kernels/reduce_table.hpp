// SPDX-License-Identifier: BSD-3-Clause
// The tables of reduction kernels, one per instruction set; runtime/datatype/op.cpp takes the best that the processor
// has.
#pragma once

#include "runtime/kernels/kinds.hpp"

namespace tutti {

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
extern KernelTable const avx2_kernels;   ///< only what vector instructions help
extern KernelTable const avx512_kernels;
#endif

}   // namespace tutti
