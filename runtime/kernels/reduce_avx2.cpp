// SPDX-License-Identifier: BSD-3-Clause
// The reduction kernels compiled for AVX2; runtime/datatype/op.cpp selects them if the processor supports it.
#include "runtime/kernels/reduce.hpp"

#if defined(__x86_64__)
#pragma GCC target("avx2,prfchw")
#include "runtime/kernels/vector_avx2.hpp"

namespace tutti {
namespace {
using Vectors = Avx2;
}
}   // namespace tutti
#include "runtime/kernels/reduce_loops.hpp"

namespace tutti {
constinit KernelTable const avx2_kernels = vector_table();
}
#endif
