// SPDX-License-Identifier: BSD-3-Clause
// The copy kernels with AVX2.
#include "runtime/copy_kernels.hpp"

#if defined(__x86_64__)
#pragma GCC target("avx2,prfchw")
#include <immintrin.h>

#include "runtime/copy_loops.hpp"

namespace tutti {
namespace {

struct Avx2 {
    using Type = __m256i;
    static constexpr std::size_t bytes = sizeof(Type);
    static Type load(char const* at) { return _mm256_loadu_si256(reinterpret_cast<Type const*>(at)); }
    static void store(char* at, Type value) { _mm256_storeu_si256(reinterpret_cast<Type*>(at), value); }
    static void stream(char* at, Type value) { _mm256_stream_si256(reinterpret_cast<Type*>(at), value); }
    static void fence() { _mm_sfence(); }
};

}  // namespace

constinit CopyKernels const avx2_copies = vector_copies<Avx2>;

}  // namespace tutti
#endif
