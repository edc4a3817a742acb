// SPDX-License-Identifier: BSD-3-Clause
// The reduction kernels compiled for AVX-512; runtime/datatype/op.cpp selects them if the processor supports it.
#include "runtime/kernels/reduce.hpp"

#if defined(__x86_64__)
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,prfchw,prefer-vector-width=512")
#include "runtime/kernels/vector_avx512.hpp"

namespace tutti {
namespace {
using Vectors = Avx512;
}
}   // namespace tutti
#include "runtime/kernels/reduce_loops.hpp"

namespace tutti {
constinit KernelTable const avx512_kernels = vector_table();
}
#endif
