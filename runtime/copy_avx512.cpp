// SPDX-License-Identifier: BSD-3-Clause
// The copy kernels with AVX-512.
#include "runtime/copy_kernels.hpp"

#if defined(__x86_64__)
#pragma GCC target("avx512f,prfchw")
#include <immintrin.h>

#include "runtime/copy_loops.hpp"

namespace tutti {
namespace {

struct Avx512 {
    using Type = __m512i;
    static constexpr std::size_t bytes = sizeof(Type);
    static Type load(char const* at) { return _mm512_loadu_si512(at); }
    static void store(char* at, Type value) { _mm512_storeu_si512(at, value); }
    static void stream(char* at, Type value) { _mm512_stream_si512(reinterpret_cast<Type*>(at), value); }
    static void fence() { _mm_sfence(); }
};

}  // namespace

constinit CopyKernels const avx512_copies = vector_copies<Avx512>;

}  // namespace tutti
#endif
