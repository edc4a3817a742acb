// SPDX-License-Identifier: BSD-3-Clause
// AVX-512 vectors for the copy and reduction loops. Must be included after the target pragma.
#pragma once

#include <cstddef>

#include <immintrin.h>

namespace tutti {
namespace {

struct Avx512 {
    using Type = __m512i;
    static constexpr std::size_t bytes = sizeof(Type);
    /// Load and store at an address of any alignment.
    static Type load(char const* at) { return _mm512_loadu_si512(at); }
    static void store(char* at, Type value) { _mm512_storeu_si512(at, value); }
    /// Non-temporal store; `at` must be aligned to the vector.
    static void stream(char* at, Type value) { _mm512_stream_si512(reinterpret_cast<Type*>(at), value); }
    /// Needed between non-temporal stores and a flag's release store, which orders only ordinary stores.
    static void fence() { _mm_sfence(); }
};

}   // namespace
}   // namespace tutti
