// SPDX-License-Identifier: BSD-3-Clause
#include "traffic.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <emmintrin.h>
#define wide __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define wide
#endif

namespace bench {
namespace {

constexpr std::size_t line = 8, page = 512; // numbers
constexpr std::size_t piece = 4 * page;     // summed at a time: stays in the nearest cache until it is passed on

// A line of numbers anywhere; the compiler makes of it what the processor has.
typedef double Vector __attribute__((vector_size(64), aligned(8), may_alias));

inline const Vector &vector_at(const double *at) { return *reinterpret_cast<const Vector *>(at); }
inline Vector &vector_at(double *at) { return *reinterpret_cast<Vector *>(at); }

void copy_by_string(double *to, const double *from, std::size_t count)
{
#if defined(__x86_64__)
    std::size_t bytes = count * sizeof(double);
    asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
#else
    std::memcpy(to, from, count * sizeof(double));
#endif
}

wide void copy_ahead(double *to, const double *from, std::size_t count)
{
    std::size_t i = 0;
    for (; i + page + line <= count; i += line) {
        __builtin_prefetch(from + i + page, 0, 2);
        __builtin_prefetch(to + i + page / 8, 1, 3);
        vector_at(to + i) = vector_at(from + i);
    }
    for (; i + line <= count; i += line)
        vector_at(to + i) = vector_at(from + i);
    std::copy(from + i, from + count, to + i);
}

void copy_streaming(double *to, const double *from, std::size_t count)
{
#if defined(__x86_64__)
    std::size_t i = 0;
    for (; i < count && reinterpret_cast<std::uintptr_t>(to + i) % 64; ++i)
        to[i] = from[i];
    auto stream_line = [&](std::size_t at) {
        for (std::size_t k = 0; k < line; k += 2)
            _mm_stream_pd(to + at + k, _mm_loadu_pd(from + at + k));
    };
    for (; i + piece <= count; i += piece)
        for (std::size_t at = i; at < i + page; at += line)
            for (std::size_t p = 0; p < piece; p += page)
                stream_line(at + p);
    for (; i + line <= count; i += line)
        stream_line(i);
    std::copy(from + i, from + count, to + i);
    _mm_sfence(); // a flag's release orders only ordinary stores
#else
    std::memcpy(to, from, count * sizeof(double));
#endif
}

wide void sum_piece(double *to, const double *const *from, int operands, std::size_t at, std::size_t count,
                    bool prefetched)
{
    std::size_t i = 0;
    for (; i + line <= count; i += line) {
        Vector total = vector_at(from[0] + at + i);
        for (int k = 1; k < operands; ++k)
            total += vector_at(from[k] + at + i);
        if (prefetched)
            for (int k = 0; k < operands; ++k)
                __builtin_prefetch(from[k] + at + i + page, 0, 2);
        vector_at(to + i) = total;
    }
    for (; i < count; ++i) {
        double total = from[0][at + i];
        for (int k = 1; k < operands; ++k)
            total += from[k][at + i];
        to[i] = total;
    }
}

} // namespace

void copy(double *to, const double *from, std::size_t count, Traffic traffic)
{
    if (count < line) {
        for (std::size_t i = 0; i < count; ++i)
            to[i] = from[i];
        return;
    }
    switch (traffic) {
    case Traffic::string: return copy_by_string(to, from, count);
    case Traffic::ahead: return copy_ahead(to, from, count);
    case Traffic::streaming: return copy_streaming(to, from, count);
    }
}

void sum(double *const *to, int copies, const double *const *from, int operands, std::size_t count, Traffic traffic)
{
    if (count < line) {
        for (std::size_t i = 0; i < count; ++i) {
            double number = from[0][i];
            for (int k = 1; k < operands; ++k)
                number += from[k][i];
            for (int k = 0; k < copies; ++k)
                to[k][i] = number;
        }
        return;
    }
    alignas(64) double total[piece];
    for (std::size_t at = 0; at < count; at += piece) {
        const std::size_t length = std::min(piece, count - at);
        const bool streams = traffic == Traffic::streaming;
        double *first = streams ? total : to[0] + at;
        // Nothing is prefetched beyond the end: others may be writing there.
        sum_piece(first, from, operands, at, length, traffic == Traffic::ahead && at + length + page <= count);
        for (int k = streams ? 0 : 1; k < copies; ++k)
            copy(to[k] + at, first, length, traffic);
    }
}

} // namespace bench
