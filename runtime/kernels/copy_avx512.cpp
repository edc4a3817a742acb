// SPDX-License-Identifier: BSD-3-Clause
// The copy kernels compiled for AVX-512; copy.cpp selects them if the processor supports it.
#include "runtime/kernels/copy.hpp"

#if defined(__x86_64__)
#pragma GCC target("avx512f,prfchw")
#include "runtime/kernels/copy_loops.hpp"
#include "runtime/kernels/vector_avx512.hpp"

namespace tutti {
constinit CopyKernels const avx512_copies = vector_copies<Avx512>;
}
#endif
