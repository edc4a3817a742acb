// SPDX-License-Identifier: BSD-3-Clause
// Vectors that any compiler knows to take apart, for the loops of reductions.
#pragma once

#include <cstddef>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tutti {
namespace {

struct Portable {
    typedef char Type __attribute__((vector_size(16)));
    static constexpr std::size_t bytes = sizeof(Type);
    /// Past the cache where every processor of the kind can do so; `at` is on the vector's boundary.
    static void stream(char* at, Type value) {
#if defined(__x86_64__)
        _mm_stream_si128(reinterpret_cast<__m128i*>(at), reinterpret_cast<__m128i>(value));
#else
        __builtin_memcpy(at, &value, sizeof value);
#endif
    }
    /// Between such stores and a flag's release store, which orders only ordinary ones.
    static void fence() {
#if defined(__x86_64__)
        _mm_sfence();
#endif
    }
};

}   // namespace
}   // namespace tutti
