// SPDX-License-Identifier: BSD-3-Clause
// The loops behind all built-in reductions. Included by one file per instruction set after its target pragma; nothing
// in here may have external linkage, or the linker would mix the versions. Vectorised by the compiler (-O3); operands
// are grouped from the left in every version and at every length, so results are the same bits on all processors.
// Buffers need not be aligned. Integers wrap: sums and products are unsigned.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/reduce_table.hpp"

namespace tutti {
namespace {

struct Max { template <class T> static T of(T a, T b) { return a > b ? a : b; } };
struct Min { template <class T> static T of(T a, T b) { return a < b ? a : b; } };
struct Sum { template <class T> static T of(T a, T b) { return static_cast<T>(a + b); } };
struct Prod {
    template <class T> static T of(T a, T b) { return static_cast<T>(a * b); }
    static std::uint16_t of(std::uint16_t a, std::uint16_t b) { return static_cast<std::uint16_t>(1u * a * b); }
};
struct Land { template <class T> static T of(T a, T b) { return static_cast<T>((a != 0) & (b != 0)); } };
struct Lor { template <class T> static T of(T a, T b) { return static_cast<T>((a != 0) | (b != 0)); } };
struct Lxor { template <class T> static T of(T a, T b) { return static_cast<T>((a != 0) ^ (b != 0)); } };
struct Band { template <class T> static T of(T a, T b) { return static_cast<T>(a & b); } };
struct Bor { template <class T> static T of(T a, T b) { return static_cast<T>(a | b); } };
struct Bxor { template <class T> static T of(T a, T b) { return static_cast<T>(a ^ b); } };

template <class T>
struct Complex {
    T re, im;
    friend Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
    friend Complex operator*(Complex a, Complex b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
};

/// One element wherever it lies.
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
    // `out` may be one of the inputs: never a dependency between different elements.
#pragma GCC ivdep
    for (std::size_t i = 0; i < n; ++i) {
        T value = O::of(a[i].value, b[i].value);
        if constexpr (operands > 2) value = O::of(value, c[i].value);
        if constexpr (operands > 3) value = O::of(value, d[i].value);
        to[i].value = value;
    }
}

template <class O, class T>
void two(void const* in, void* inout, std::size_t n) {
    if (n == 1) {   // the commonest reduction of all; the loop's preparations would cost more than the work
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

/// More than four operands, in strips whose intermediate result stays in the first cache.
template <class O, class T>
void in_strips(void const* const* in, int k, void* out, std::size_t n) {
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
void many(void const* const* in, int k, void* out, std::size_t n) {
    if (n == 1 || k == 1) return one_by_one<O, T>(in, k, out, n);
    if (k == 2) return fold<2, O, T>(in, out, n);
    if (k == 3) return fold<3, O, T>(in, out, n);
    if (k == 4) return fold<4, O, T>(in, out, n);
    in_strips<O, T>(in, k, out, n);
}

template <class O, class T>
constexpr Kernels vector_kernels{two<O, T>, many<O, T>};

/// A sum of complex numbers is a sum of twice as many real ones.
template <class T>
void two_sums(void const* in, void* inout, std::size_t n) { two<Sum, T>(in, inout, 2 * n); }
template <class T>
void many_sums(void const* const* in, int k, void* out, std::size_t n) { many<Sum, T>(in, k, out, 2 * n); }

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

/// Signed and unsigned integers of one width: they differ only in their order.
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

/// Everything that vector instructions help.
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
    table.set(BuiltinOp::sum, Basic::complex32, {two_sums<float>, many_sums<float>});
    table.set(BuiltinOp::sum, Basic::complex64, {two_sums<double>, many_sums<double>});
    table.set(BuiltinOp::prod, Basic::complex32, vector_kernels<Prod, Complex<float>>);
    table.set(BuiltinOp::prod, Basic::complex64, vector_kernels<Prod, Complex<double>>);
    return table;
}

}  // namespace
}  // namespace tutti
