// SPDX-License-Identifier: BSD-3-Clause
// The loops of all built-in reductions. One source file per instruction set includes this file after its target pragma
// and the definition of `Vectors`. Nothing in here may have external linkage, or the linker would mix the versions.
// Operands are grouped from the left in every version and at every length, so results are bitwise identical on all
// processors. Buffers need not be aligned. Integers wrap: sums and products are unsigned. Cost: k operands and m
// results of n bytes each move (k + m)·n bytes.
//
// Measurements behind the design, between two cores, on operands half of which the other core had modified just before:
// - One pass over any number of operands (5 to 16) takes 0.9 to 1.0 of the time of passes over four at a time through a
//   strip in the first-level cache; a pass written for each k is no faster than this one for all k. For up to four
//   operands that fit in the first-level cache, the compiler's own loops are up to twice as fast.
// - An allreduce of two ranks that each write their half of the result to both takes 0.55 to 0.85 of one in which each
//   writes its own result and copies the other half, from 64 KiB to 16 MiB. If the owners have just modified the memory
//   of the results, it takes 0.8 to 0.95 of that time, and 1.2 at 64 KiB.
// - Prefetching two outputs for writing takes 0.6 to 0.9 of the time without it within the private caches, and makes no
//   difference beyond. Prefetching operands gains nothing, because there are several streams already.
// - Non-temporal stores of results take 0.8 of the time once the outputs exceed the private caches and 0.7 beyond the
//   last level, but 1.3 (large) to 2 (small) if the results are read again from a cache that would have held them.
//
// Nothing is prefetched beyond the ends, because other ranks may be writing there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "runtime/kernels/reduce.hpp"

namespace tutti {
namespace {

struct Max {
    template <class T>
    static T of(T a, T b) {
        return a > b ? a : b;
    }
};
struct Min {
    template <class T>
    static T of(T a, T b) {
        return a < b ? a : b;
    }
};
struct Sum {
    template <class T>
    static T of(T a, T b) {
        return static_cast<T>(a + b);
    }
};
struct Prod {
    template <class T>
    static T of(T a, T b) {
        return static_cast<T>(a * b);
    }
    static std::uint16_t of(std::uint16_t a, std::uint16_t b) { return static_cast<std::uint16_t>(1u * a * b); }
};
// A comparison of vectors yields lanes of all ones, hence `& 1` in the logical operators.
struct Land {
    template <class T>
    static T of(T a, T b) {
        return static_cast<T>(((a != 0) & (b != 0)) & 1);
    }
};
struct Lor {
    template <class T>
    static T of(T a, T b) {
        return static_cast<T>(((a != 0) | (b != 0)) & 1);
    }
};
struct Lxor {
    template <class T>
    static T of(T a, T b) {
        return static_cast<T>(((a != 0) ^ (b != 0)) & 1);
    }
};
struct Band {
    template <class T>
    static T of(T a, T b) {
        return static_cast<T>(a & b);
    }
};
struct Bor {
    template <class T>
    static T of(T a, T b) {
        return static_cast<T>(a | b);
    }
};
struct Bxor {
    template <class T>
    static T of(T a, T b) {
        return static_cast<T>(a ^ b);
    }
};

template <class T>
struct Complex {
    T re, im;
    friend Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
    friend Complex operator*(Complex a, Complex b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
};

/// One element at any address, without alignment.
template <class T>
struct [[gnu::packed, gnu::may_alias]] Cell {
    T value;
};

/// out = a op b, or ((a op b) op c), or (((a op b) op c) op d): one pass over `operands` inputs.
template <int operands, class O, class T>
inline void fold(void const* const* in, void* out, std::size_t n) {
    auto a = static_cast<Cell<T> const*>(in[0]), b = static_cast<Cell<T> const*>(in[1]);
    auto c = static_cast<Cell<T> const*>(in[operands > 2 ? 2 : 0]);
    auto d = static_cast<Cell<T> const*>(in[operands > 3 ? 3 : 0]);
    auto to = static_cast<Cell<T>*>(out);
    // `out` may be one of the inputs, but there is never a dependency between different elements.
#pragma GCC ivdep
    for (std::size_t i = 0; i < n; ++i) {
        T value = O::of(a[i].value, b[i].value);
        if constexpr (operands > 2) value = O::of(value, c[i].value);
        if constexpr (operands > 3) value = O::of(value, d[i].value);
        to[i].value = value;
    }
}

template <class O, class T>
void reduce_two(void const* in, void* inout, std::size_t n) {
    if (n == 1) {   // the most common reduction; setting up the loop would cost more than the work
        auto to = static_cast<Cell<T>*>(inout);
        to->value = O::of(static_cast<Cell<T> const*>(in)->value, to->value);
        return;
    }
    void const* operands[] = {in, inout};
    fold<2, O, T>(operands, inout, n);
}

template <class O, class T>
void one_by_one(void const* const* in, int k, void* out, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
        T value = static_cast<Cell<T> const*>(in[0])[i].value;
        for (int j = 1; j < k; ++j) value = O::of(value, static_cast<Cell<T> const*>(in[j])[i].value);
        static_cast<Cell<T>*>(out)[i].value = value;
    }
}

// --- Any number of operands and outputs, in one pass -----------------------------------------------------------------

template <class T, std::size_t bytes>
struct VectorOf {
    typedef T type __attribute__((vector_size(bytes)));
};
template <class T, std::size_t bytes>
using Vector = typename VectorOf<T, bytes>::type;

struct Operands {
    void const* const* in;
    int k;
    void* const* out;
    int m;
    int kept;   ///< number of outputs that stay in the cache; the rest are written past it
};

/// Combines the elements at byte `at`: `count` values, each an element or a vector of elements. Reads all inputs before
/// it writes, so outputs may be inputs.
template <class O, class V, int count, bool past_cache = false>
inline void combine(Operands const& o, std::size_t at) {
    auto load = [&](int j, int i) {
        V value;
        __builtin_memcpy(&value, static_cast<char const*>(o.in[j]) + at + i * sizeof(V), sizeof(V));
        return value;
    };
    V value[count];   // registers
#pragma GCC unroll 4
    for (int i = 0; i < count; ++i) value[i] = load(0, i);
    for (int j = 1; j < o.k; ++j) {
#pragma GCC unroll 4
        for (int i = 0; i < count; ++i) value[i] = O::of(value[i], load(j, i));
    }
    auto address = [&](int to, int i) { return static_cast<char*>(o.out[to]) + at + i * sizeof(V); };
    for (int to = 0; to < o.kept; ++to) {
#pragma GCC unroll 4
        for (int i = 0; i < count; ++i) __builtin_memcpy(address(to, i), &value[i], sizeof(V));
    }
    if constexpr (past_cache) {
        for (int to = o.kept; to < o.m; ++to) {
#pragma GCC unroll 4
            for (int i = 0; i < count; ++i) Vectors::stream(address(to, i), (Vectors::Type)value[i]);
        }
    }
}

template <class O, class V, int count>
inline void combine_while(Operands const& o, std::size_t& at, std::size_t end) {
    for (; at + count * sizeof(V) <= end; at += count * sizeof(V)) combine<O, V, count>(o, at);
}

/// Combines the remaining bytes with successively smaller vectors.
template <class O, class T, std::size_t bytes = Vectors::bytes>
inline void combine_rest(Operands const& o, std::size_t& at, std::size_t end) {
    if constexpr (bytes >= 16) {
        combine_while<O, Vector<T, bytes>, 1>(o, at, end);
        combine_rest<O, T, bytes / 2>(o, at, end);
    } else {
        combine_while<O, T, 1>(o, at, end);
    }
}

template <class O, class T>
void spread(void const* const* in, int k, void* const* out, int m, std::size_t n) {
    using V = Vector<T, Vectors::bytes>;
    constexpr std::size_t block = 4 * sizeof(V), write_ahead = 512;
    Operands const o{in, k, out, m, m};
    std::size_t const end = n * sizeof(T);
    std::size_t at = 0;
    for (; at + write_ahead + block <= end; at += block) {
        for (int to = 0; to < m; ++to)
            for (std::size_t i = 0; i < block; i += 64)
                __builtin_prefetch(static_cast<char*>(out[to]) + at + write_ahead + i, 1, 3);
        combine<O, V, 4>(o, at);
    }
    combine_while<O, V, 4>(o, at, end);
    combine_rest<O, T>(o, at, end);
}

/// Returns the number of bytes up to the first position at which all outputs are aligned to a line, or `none` if there
/// is no such position.
template <class T>
inline std::size_t bytes_to_line(void* const* out, int m, std::size_t none) {
    auto before = [&](int to) { return -reinterpret_cast<std::uintptr_t>(out[to]) % 64; };
    for (int to = 1; to < m; ++to)
        if (before(to) != before(0)) return none;
    return before(0) % sizeof(T) == 0 ? before(0) : none;
}

template <class O, class T>
void stream(void const* const* in, int k, void* const* out, int m, int kept, std::size_t n) {
    using V = Vector<T, Vectors::bytes>;
    Operands const all_kept{in, k, out, m, m}, o{in, k, out, m, kept};
    std::size_t const end = n * sizeof(T), head = kept < m ? bytes_to_line<T>(out + kept, m - kept, end) : end;
    if (head >= end) return spread<O, T>(in, k, out, m, n);
    std::size_t at = 0;
    combine_rest<O, T>(all_kept, at, head);
    for (; at + 4 * sizeof(V) <= end; at += 4 * sizeof(V)) combine<O, V, 4, true>(o, at);
    Vectors::fence();
    combine_rest<O, T>(all_kept, at, end);
}

/// Separate from `reduce_many`, whose few instructions then need no stack frame.
template <class O, class T>
[[gnu::noinline]] void reduce_many_general(void const* const* in, int k, void* out, std::size_t n) {
    constexpr std::size_t first_cache = 32768;   // size of the first-level cache of nearly every processor
    if (n == 1 || k == 1) return one_by_one<O, T>(in, k, out, n);
    if (k > 4 || n * sizeof(T) > first_cache) return spread<O, T>(in, k, &out, 1, n);
    if (k == 2) return fold<2, O, T>(in, out, n);
    if (k == 3) return fold<3, O, T>(in, out, n);
    fold<4, O, T>(in, out, n);
}

template <class O, class T>
void reduce_many(void const* const* in, int k, void* out, std::size_t n) {
    if (n != 1 || k != 2) return reduce_many_general<O, T>(in, k, out, n);
    T const first = static_cast<Cell<T> const*>(in[0])->value;   // as in `reduce_two`
    static_cast<Cell<T>*>(out)->value = O::of(first, static_cast<Cell<T> const*>(in[1])->value);
}

template <class O, class T>
constexpr Kernels vector_kernels{reduce_two<O, T>, reduce_many<O, T>, spread<O, T>, stream<O, T>};

// --- Elements that do not fit a vector lane --------------------------------------------------------------------------

template <class O, class T>
void spread_one_by_one(void const* const* in, int k, void* const* out, int m, std::size_t n) {
    Operands const o{in, k, out, m, m};
    for (std::size_t i = 0; i < n; ++i) combine<O, T, 1>(o, i * sizeof(T));
}
template <class O, class T>
void stream_one_by_one(void const* const* in, int k, void* const* out, int m, int, std::size_t n) {
    spread_one_by_one<O, T>(in, k, out, m, n);
}

// Products of complex numbers: the compiler shuffles their parts into vectors for up to four operands at a time. More
// operands are processed in strips whose intermediate result stays in the first-level cache.

template <class O, class T>
void reduce_in_strips(void const* const* in, int k, void* out, std::size_t n) {
    constexpr std::size_t strip = 2048 / sizeof(T);
    alignas(64) Cell<T> result[strip];
    for (std::size_t done = 0; done < n; done += strip) {
        std::size_t const m = n - done < strip ? n - done : strip;
        auto from = [&](int j) { return static_cast<void const*>(static_cast<Cell<T> const*>(in[j]) + done); };
        void const* operands[] = {from(0), from(1), from(2), from(3)};
        fold<4, O, T>(operands, result, m);
        operands[0] = result;
        int j = 4;
        for (; k - j > 3; j += 3) {
            for (int i = 0; i < 3; ++i) operands[i + 1] = from(j + i);
            fold<4, O, T>(operands, result, m);
        }
        // The last pass writes to `out`, which may be an input: nothing of this strip is read after it.
        for (int i = 0; j + i < k; ++i) operands[i + 1] = from(j + i);
        void* to = static_cast<Cell<T>*>(out) + done;
        if (k - j == 3) fold<4, O, T>(operands, to, m);
        else if (k - j == 2) fold<3, O, T>(operands, to, m);
        else fold<2, O, T>(operands, to, m);
    }
}

template <class O, class T>
void reduce_many_auto_vectorized(void const* const* in, int k, void* out, std::size_t n) {
    if (n == 1 || k == 1) return one_by_one<O, T>(in, k, out, n);
    if (k == 2) return fold<2, O, T>(in, out, n);
    if (k == 3) return fold<3, O, T>(in, out, n);
    if (k == 4) return fold<4, O, T>(in, out, n);
    reduce_in_strips<O, T>(in, k, out, n);
}

template <class O, class T>
constexpr Kernels product_of_complex{reduce_two<O, T>, reduce_many_auto_vectorized<O, T>, spread_one_by_one<O, T>,
                                     stream_one_by_one<O, T>};

/// A sum of complex numbers is a sum of twice as many real ones.
template <class T>
void reduce_two_sums(void const* in, void* inout, std::size_t n) {
    reduce_two<Sum, T>(in, inout, 2 * n);
}
template <class T>
void reduce_many_sums(void const* const* in, int k, void* out, std::size_t n) {
    reduce_many<Sum, T>(in, k, out, 2 * n);
}
template <class T>
void spread_sums(void const* const* in, int k, void* const* out, int m, std::size_t n) {
    spread<Sum, T>(in, k, out, m, 2 * n);
}
template <class T>
void stream_sums(void const* const* in, int k, void* const* out, int m, int kept, std::size_t n) {
    stream<Sum, T>(in, k, out, m, kept, 2 * n);
}
template <class T>
constexpr Kernels complex_sums{reduce_two_sums<T>, reduce_many_sums<T>, spread_sums<T>, stream_sums<T>};

template <class T>
constexpr void fill_ordered(KernelTable& table, Basic kind) {
    table.set(BuiltinOp::max, kind, vector_kernels<Max, T>);
    table.set(BuiltinOp::min, kind, vector_kernels<Min, T>);
}

template <class T>
constexpr void fill_sums(KernelTable& table, Basic kind) {
    table.set(BuiltinOp::sum, kind, vector_kernels<Sum, T>);
    table.set(BuiltinOp::prod, kind, vector_kernels<Prod, T>);
}

template <class T>
constexpr void fill_bitwise(KernelTable& table, Basic kind) {
    table.set(BuiltinOp::band, kind, vector_kernels<Band, T>);
    table.set(BuiltinOp::bor, kind, vector_kernels<Bor, T>);
    table.set(BuiltinOp::bxor, kind, vector_kernels<Bxor, T>);
}

template <class T>
constexpr void fill_logical(KernelTable& table, Basic kind) {
    table.set(BuiltinOp::land, kind, vector_kernels<Land, T>);
    table.set(BuiltinOp::lor, kind, vector_kernels<Lor, T>);
    table.set(BuiltinOp::lxor, kind, vector_kernels<Lxor, T>);
}

/// Signed and unsigned integers of one width, which differ only in max and min.
template <class Signed, class Unsigned>
constexpr void fill_integers(KernelTable& table, Basic signed_kind, Basic unsigned_kind) {
    fill_ordered<Signed>(table, signed_kind);
    fill_ordered<Unsigned>(table, unsigned_kind);
    for (Basic kind : {signed_kind, unsigned_kind}) {
        fill_sums<Unsigned>(table, kind);
        fill_bitwise<Unsigned>(table, kind);
        fill_logical<Unsigned>(table, kind);
    }
}

/// The kernels that benefit from vector instructions.
constexpr KernelTable vector_table() {
    KernelTable table;
    fill_integers<std::int8_t, std::uint8_t>(table, Basic::int8, Basic::uint8);
    fill_integers<std::int16_t, std::uint16_t>(table, Basic::int16, Basic::uint16);
    fill_integers<std::int32_t, std::uint32_t>(table, Basic::int32, Basic::uint32);
    fill_integers<std::int64_t, std::uint64_t>(table, Basic::int64, Basic::uint64);
    fill_logical<std::uint8_t>(table, Basic::c_bool);
    fill_logical<std::uint32_t>(table, Basic::fortran_logical);
    fill_bitwise<std::uint8_t>(table, Basic::byte_);
    fill_ordered<float>(table, Basic::float32);
    fill_ordered<double>(table, Basic::float64);
    fill_sums<float>(table, Basic::float32);
    fill_sums<double>(table, Basic::float64);
    table.set(BuiltinOp::sum, Basic::complex32, complex_sums<float>);
    table.set(BuiltinOp::sum, Basic::complex64, complex_sums<double>);
    table.set(BuiltinOp::prod, Basic::complex32, product_of_complex<Prod, Complex<float>>);
    table.set(BuiltinOp::prod, Basic::complex64, product_of_complex<Prod, Complex<double>>);
    return table;
}

}   // namespace
}   // namespace tutti
