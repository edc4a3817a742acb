// SPDX-License-Identifier: BSD-3-Clause
// The copy kernels compiled for AVX2; copy.cpp selects them if the processor supports it.
#include "runtime/kernels/copy.hpp"

#if defined(__x86_64__)
#pragma GCC target("avx2,prfchw")
#include "runtime/kernels/copy_loops.hpp"
#include "runtime/kernels/vector_avx2.hpp"

namespace tutti {
constinit CopyKernels const avx2_copies = vector_copies<Avx2>;
}
#endif
