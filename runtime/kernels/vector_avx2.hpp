// SPDX-License-Identifier: BSD-3-Clause
// Vectors of AVX2, for the loops of copies and reductions. To be included after the target pragma.
#pragma once

#include <cstddef>

#include <immintrin.h>

namespace tutti {
namespace {

struct Avx2 {
    using Type = __m256i;
    static constexpr std::size_t bytes = sizeof(Type);
    /// Anywhere.
    static Type load(char const* at) { return _mm256_loadu_si256(reinterpret_cast<Type const*>(at)); }
    static void store(char* at, Type value) { _mm256_storeu_si256(reinterpret_cast<Type*>(at), value); }
    /// Past the cache; `at` is on the vector's boundary.
    static void stream(char* at, Type value) { _mm256_stream_si256(reinterpret_cast<Type*>(at), value); }
    /// Between such stores and a flag's release store, which orders only ordinary ones.
    static void fence() { _mm_sfence(); }
};

}   // namespace
}   // namespace tutti
