// SPDX-License-Identifier: BSD-3-Clause
// Reduction kernels for any processor, including those that do not benefit from vector instructions: long double,
// quadruple precision, and pairs.
#include <cstddef>

// Vectors that every compiler can split into the processor's, for reduce_loops.hpp.

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tutti {
namespace {

struct Portable {
    typedef char Type __attribute__((vector_size(16)));
    static constexpr std::size_t bytes = sizeof(Type);
    /// Non-temporal store if every processor of the architecture has one; `at` must be aligned to the vector.
    static void stream(char* at, Type value) {
#if defined(__x86_64__)
        _mm_stream_si128(reinterpret_cast<__m128i*>(at), reinterpret_cast<__m128i>(value));
#else
        __builtin_memcpy(at, &value, sizeof value);
#endif
    }
    /// Needed between non-temporal stores and a flag's release store, which orders only ordinary stores.
    static void fence() {
#if defined(__x86_64__)
        _mm_sfence();
#endif
    }
};

using Vectors = Portable;
}   // namespace
}   // namespace tutti
#include "runtime/kernels/reduce_loops.hpp"

namespace tutti {
namespace {

__extension__ using Quad = __float128;

template <class Value, class Index>
struct Pair {
    Value value;
    Index index;
};

/// The pair without C's padding, as in packed data.
template <class Value, class Index>
struct [[gnu::packed]] PackedPair {
    Value value;
    Index index;
};

/// Among equal values the smaller index wins (MPI 3.1, 5.9.4).
struct Minloc {
    template <class P>
    static P of(P a, P b) {
        return a.value < b.value || (a.value == b.value && a.index < b.index) ? a : b;
    }
};
struct Maxloc {
    template <class P>
    static P of(P a, P b) {
        return a.value > b.value || (a.value == b.value && a.index < b.index) ? a : b;
    }
};

template <class O, class T>
void scalar_reduce_two(void const* in, void* inout, std::size_t n) {
    auto a = static_cast<Cell<T> const*>(in);
    auto b = static_cast<Cell<T>*>(inout);
    for (std::size_t i = 0; i < n; ++i) b[i].value = O::of(a[i].value, b[i].value);
}

template <class O, class T>
constexpr Kernels scalar_kernels{scalar_reduce_two<O, T>, one_by_one<O, T>, spread_one_by_one<O, T>,
                                 stream_one_by_one<O, T>};

template <class T>
constexpr void fill_scalar_floats(KernelTable& table, Basic real, Basic complex) {
    table.set(BuiltinOp::max, real, scalar_kernels<Max, T>);
    table.set(BuiltinOp::min, real, scalar_kernels<Min, T>);
    table.set(BuiltinOp::sum, real, scalar_kernels<Sum, T>);
    table.set(BuiltinOp::prod, real, scalar_kernels<Prod, T>);
    table.set(BuiltinOp::sum, complex, scalar_kernels<Sum, Complex<T>>);
    table.set(BuiltinOp::prod, complex, scalar_kernels<Prod, Complex<T>>);
}

template <class Value, class Index>
constexpr void fill_pair(KernelTable& table, Basic kind) {
    table.set(BuiltinOp::minloc, kind, scalar_kernels<Minloc, Pair<Value, Index>>);
    table.set(BuiltinOp::maxloc, kind, scalar_kernels<Maxloc, Pair<Value, Index>>);
}

template <class P>
Kernels pair_kernels(BuiltinOp op) {
    if (op == BuiltinOp::minloc) return scalar_kernels<Minloc, P>;
    if (op == BuiltinOp::maxloc) return scalar_kernels<Maxloc, P>;
    return {};
}

constexpr KernelTable full_table() {
    KernelTable table = vector_table();
    fill_scalar_floats<long double>(table, Basic::float80, Basic::complex80);
    fill_scalar_floats<Quad>(table, Basic::float128, Basic::complex128);
    fill_pair<float, int>(table, Basic::float_int);
    fill_pair<double, int>(table, Basic::double_int);
    fill_pair<long, int>(table, Basic::long_int);
    fill_pair<int, int>(table, Basic::two_int);
    fill_pair<short, int>(table, Basic::short_int);
    fill_pair<long double, int>(table, Basic::long_double_int);
    fill_pair<float, float>(table, Basic::two_real);
    fill_pair<double, double>(table, Basic::two_double);
    return table;
}

}   // namespace

constinit KernelTable const portable_kernels = full_table();

Kernels packed_pair_kernels(BuiltinOp op, Basic kind) {
    switch (kind) {
    case Basic::double_int: return pair_kernels<PackedPair<double, int>>(op);
    case Basic::long_int: return pair_kernels<PackedPair<long, int>>(op);
    case Basic::short_int: return pair_kernels<PackedPair<short, int>>(op);
    case Basic::long_double_int: return pair_kernels<PackedPair<long double, int>>(op);
    default: return {};
    }
}

}   // namespace tutti
