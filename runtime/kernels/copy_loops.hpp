// SPDX-License-Identifier: BSD-3-Clause
// The copy kernels as templates over a vector type (vector_*.hpp). One source file per instruction set includes this
// file after its target pragma. Nothing in here may have external linkage, or the linker would mix the versions.
//
// Measurements behind the design, between two cores of a processor with private second-level caches and a shared,
// non-inclusive third-level cache, on lines that the other core had modified just before:
// - Waiting for the other core's lines takes all the time: the string instruction, memcpy, and plain vector loops of
//   either width take the same time. More lines in flight help: prefetching the source into the second level (which can
//   have more lines in flight than the first) one page ahead, because the hardware prefetcher stops at the end of a
//   page, and prefetching the destination for writing, so that stores do not hold up loads. Together they take 0.6 of
//   the time at 64 and 128 KiB and 0.75 at 256 and 512 KiB; the distances hardly matter.
// - Once the data exceed the private cache, the lines come from the shared one. Prefetching the source is then 2 %
//   slower than not prefetching it, and the other techniques make no difference compared to memcpy.
// - Another processor (Zen 5, one shared third-level cache) behaves the other way round: the string instruction is
//   fastest if source and destination have the same alignment to lines (0.54 of the time with both prefetched at 64
//   KiB, 0.72 at 1 MiB), plain loops if they do not. Copies to and from windows therefore choose by measurement
//   (measured_copier.hpp).
// - Non-temporal stores are fastest over several pages at a time (0.93 of the time of one page after another);
//   prefetching slows them down.
//
// Nothing is prefetched beyond the ends, because other ranks may be writing there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "runtime/kernels/copy.hpp"

namespace tutti {
namespace {

constexpr std::size_t line = 64, block = 4 * line, page = 4096;

/// Copies `bytes` bytes; `to` must be aligned to a line.
template <class Vector, std::size_t bytes>
inline void move(char* to, char const* from) {
    constexpr int pieces = bytes / Vector::bytes;
    typename Vector::Type piece[pieces];   // registers
#pragma GCC unroll 8
    for (int i = 0; i < pieces; ++i) piece[i] = Vector::load(from + i * Vector::bytes);
#pragma GCC unroll 8
    for (int i = 0; i < pieces; ++i) Vector::store(to + i * Vector::bytes, piece[i]);
}

template <class Vector>
inline void stream_line(char* to, char const* from) {
#pragma GCC unroll 4
    for (std::size_t i = 0; i < line; i += Vector::bytes) Vector::stream(to + i, Vector::load(from + i));
}

/// Copies the bytes before the first line boundary of `to` and returns their number.
inline std::size_t head(char* to, char const* from, std::size_t n) {
    std::size_t const before = -reinterpret_cast<std::uintptr_t>(to) % line;
    std::size_t const bytes = before < n ? before : n;
    std::memcpy(to, from, bytes);
    return bytes;
}

enum class Prefetched { nothing, destination, both };

template <class Vector, Prefetched prefetched>
void temporal(void* to_memory, void const* from_memory, std::size_t n) {
    constexpr bool source_too = prefetched == Prefetched::both, none = prefetched == Prefetched::nothing;
    constexpr std::size_t write_ahead = 512, ahead = source_too ? page : none ? 0 : write_ahead;
    auto to = static_cast<char*>(to_memory);
    auto from = static_cast<char const*>(from_memory);
    std::size_t at = head(to, from, n);
    for (; at + ahead + block <= n; at += block) {
#pragma GCC unroll 4
        for (std::size_t i = 0; i < block; i += line) {
            if constexpr (source_too) __builtin_prefetch(from + at + ahead + i, 0, 2);
            if constexpr (!none) __builtin_prefetch(to + at + write_ahead + i, 1, 3);
        }
        move<Vector, block>(to + at, from + at);
    }
    for (; at + block <= n; at += block) move<Vector, block>(to + at, from + at);
    std::memcpy(to + at, from + at, n - at);
}

template <class Vector>
void streaming(void* to_memory, void const* from_memory, std::size_t n) {
    constexpr std::size_t step = 4 * page;
    auto to = static_cast<char*>(to_memory);
    auto from = static_cast<char const*>(from_memory);
    std::size_t at = head(to, from, n);
    for (; at + step <= n; at += step)
        for (std::size_t i = at; i < at + page; i += line)
#pragma GCC unroll 4
            for (std::size_t p = 0; p < step; p += page) stream_line<Vector>(to + i + p, from + i + p);
    for (; at + line <= n; at += line) stream_line<Vector>(to + at, from + at);
    Vector::fence();   // a release store orders only ordinary stores
    std::memcpy(to + at, from + at, n - at);
}

template <class Vector>
constexpr CopyKernels vector_copies{temporal<Vector, Prefetched::both>, temporal<Vector, Prefetched::destination>,
                                    temporal<Vector, Prefetched::nothing>, streaming<Vector>};

}   // namespace
}   // namespace tutti
