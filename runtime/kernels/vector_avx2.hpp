// SPDX-License-Identifier: BSD-3-Clause
// AVX2 vectors for the copy and reduction loops. Must be included after the target pragma.
#pragma once

#include <cstddef>

#include <immintrin.h>

namespace tutti {
namespace {

struct Avx2 {
    using Type = __m256i;
    static constexpr std::size_t bytes = sizeof(Type);
    /// Load and store at an address of any alignment.
    static Type load(char const* at) { return _mm256_loadu_si256(reinterpret_cast<Type const*>(at)); }
    static void store(char* at, Type value) { _mm256_storeu_si256(reinterpret_cast<Type*>(at), value); }
    /// Non-temporal store; `at` must be aligned to the vector.
    static void stream(char* at, Type value) { _mm256_stream_si256(reinterpret_cast<Type*>(at), value); }
    /// Needed between non-temporal stores and a flag's release store, which orders only ordinary stores.
    static void fence() { _mm_sfence(); }
};

}   // namespace
}   // namespace tutti
