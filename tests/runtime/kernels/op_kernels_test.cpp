// SPDX-License-Identifier: BSD-3-Clause
// Every reduction kernel of every instruction set, compared bit by bit with a plain loop: all operators, kinds, lengths
// around vector widths, odd addresses, two operands and many, one output and several, streaming or not.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "runtime/datatype/op.hpp"
#include "runtime/kernels/reduce.hpp"

namespace tutti {
namespace {

__extension__ using Quad = __float128;

std::vector<KernelTable const*> kernel_tables() {
    std::vector<KernelTable const*> all = {&portable_kernels};
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) all.push_back(&avx2_kernels);
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        all.push_back(&avx512_kernels);
#endif
    return all;
}

template <class T>
using Combine = T (*)(T, T);

/// A buffer whose elements start at an odd address.
template <class T>
struct Misaligned {
    explicit Misaligned(std::vector<T> const& values) : count(values.size()), bytes(count * sizeof(T) + 1 + 8, 'z') {
        if (count) std::memcpy(data(), values.data(), count * sizeof(T));
    }
    void* data() { return bytes.data() + 1; }
    bool holds(std::vector<T> const& values) {
        bool same = true;
        for (std::size_t i = 0; i < count; ++i) {
            T mine;
            std::memcpy(&mine, static_cast<char*>(data()) + i * sizeof(T), sizeof(T));
            same = same && equal(mine, values[i]);
        }
        return same && bytes.back() == 'z' && bytes.front() == 'z';
    }
    static bool equal(T const& a, T const& b) { return a == b; }

    std::size_t count;
    std::vector<char> bytes;
};

/// Small whole numbers including zero, so that no undefined overflow occurs, but ties do.
template <class T>
T sample(std::mt19937& random) {
    int n = static_cast<int>(random() % 7) - 3;
    auto other = random() % 5;
    if constexpr (requires { T{}.index; })
        return T{static_cast<decltype(T{}.value)>(n), static_cast<decltype(T{}.index)>(other)};
    else if constexpr (requires { T{}.real(); })
        return T(static_cast<typename T::value_type>(n), static_cast<typename T::value_type>(other));
    else if constexpr (std::is_integral_v<T> && sizeof(T) < 8) return static_cast<T>(n == 0 ? 0 : random());
    else return static_cast<T>(n);
}

// Values repeat with a prime period, because kernels work on powers of two; random numbers would take most of the time.
template <class T>
std::vector<T> samples(std::mt19937& random, std::size_t n) {
    constexpr std::size_t period = 211;
    std::vector<T> values(n);
    for (std::size_t i = 0; i < n; ++i) values[i] = i < period ? sample<T>(random) : values[i - period];
    return values;
}

template <class T>
void compare(BuiltinOp op, Basic kind, Combine<T> combine) {
    ASSERT_EQ(basic_size(kind), sizeof(T));
    ASSERT_NE(portable_kernels.get(op, kind).binary, nullptr) << "operator " << int(op) << " kind " << int(kind);
    for (KernelTable const* table : kernel_tables()) {
        Kernels kernels = table->get(op, kind);
        if (!kernels.binary) continue;
        std::mt19937 random(42);
        for (std::size_t n : {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 127, 129, 1000}) {
            std::vector<T> a = samples<T>(random, n), b = samples<T>(random, n), expected;
            for (std::size_t i = 0; i < n; ++i) expected.push_back(combine(a[i], b[i]));
            Misaligned<T> in(a), inout(b);
            kernels.binary(in.data(), inout.data(), n);
            EXPECT_TRUE(inout.holds(expected)) << "operator " << int(op) << " kind " << int(kind) << " n " << n;
        }
    }
}

/// k random operands and the result of their combination.
template <class T>
struct Operands {
    Operands(std::mt19937& random, int k, std::size_t n, Combine<T> combine) {
        for (int j = 0; j < k; ++j) {
            std::vector<T> values = samples<T>(random, n);
            if (j == 0) expected = values;
            else
                for (std::size_t i = 0; i < n; ++i) expected[i] = combine(expected[i], values[i]);
            in.emplace_back(values);
        }
        for (Misaligned<T>& buffer : in) pointers.push_back(buffer.data());
    }
    std::vector<Misaligned<T>> in;
    std::vector<T> expected;
    std::vector<void const*> pointers;
};

template <class T>
void compare_many(BuiltinOp op, Basic kind, Combine<T> combine) {
    for (KernelTable const* table : kernel_tables()) {
        Kernels kernels = table->get(op, kind);
        if (!kernels.nary) continue;
        std::mt19937 random(43);
        // Up to beyond the length at which loops for the first-level cache are replaced by loops for larger data.
        for (int k : {1, 2, 3, 4, 5, 8, 11})
            for (std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{3}, std::size_t{65}, std::size_t{613},
                                  (k == 2 || k == 5 ? 32768 : 0) / sizeof(T) + 77})
                for (int target : {-1, 0, k / 2, k - 1}) {   // −1: a separate buffer, else one of the inputs
                    Operands<T> o(random, k, n, combine);
                    Misaligned<T> own(std::vector<T>(n, T{}));
                    Misaligned<T>& out = target < 0 ? own : o.in[static_cast<std::size_t>(target)];
                    kernels.nary(o.pointers.data(), k, out.data(), n);
                    EXPECT_TRUE(out.holds(o.expected)) << "operator " << int(op) << " kind " << int(kind) << " n " << n
                                                       << " k " << k << " target " << target;
                }
    }
}

/// Memory on a cache line boundary with room for `offset` bytes before it and guards at both ends.
struct Target {
    Target(std::size_t offset, std::size_t n) : offset(64 + offset), end(64 + offset + n), bytes(end + 64, 'z') {
        while (reinterpret_cast<std::uintptr_t>(bytes.data() + slack) % 64 != 0) ++slack, bytes.push_back('z');
    }
    void* data() { return bytes.data() + slack + offset; }
    bool guards() const {
        auto untouched = [](char c) { return c == 'z'; };
        auto start = bytes.begin() + static_cast<std::ptrdiff_t>(slack);
        return std::all_of(start, start + static_cast<std::ptrdiff_t>(offset), untouched) &&
               std::all_of(start + static_cast<std::ptrdiff_t>(end), bytes.end(), untouched);
    }
    std::size_t offset, end, slack = 0;
    std::vector<char> bytes;
};

/// Several outputs in one pass, streaming or not, with equal or different alignments, one of them an input.
template <class T>
void compare_outputs(BuiltinOp op, Basic kind, Combine<T> combine) {
    for (KernelTable const* table : kernel_tables()) {
        Kernels kernels = table->get(op, kind);
        if (!kernels.spread) continue;
        std::mt19937 random(44);
        // `kept`: the number of outputs that are not streamed; −1: all outputs, by the other kernel.
        auto check = [&](int kept, int k, std::size_t n, std::vector<std::size_t> const& offsets, bool in_place) {
            Operands<T> o(random, k, n, combine);
            std::vector<Target> targets;
            std::vector<void*> out;
            targets.reserve(offsets.size());
            for (std::size_t offset : offsets) out.push_back(targets.emplace_back(offset, n * sizeof(T)).data());
            if (in_place) out.push_back(o.in[static_cast<std::size_t>(k - 1)].data());
            int const m = static_cast<int>(out.size());
            if (kept < 0) kernels.spread(o.pointers.data(), k, out.data(), m, n);
            else kernels.stream(o.pointers.data(), k, out.data(), m, std::min(kept, m), n);
            bool right = !in_place || o.in[static_cast<std::size_t>(k - 1)].holds(o.expected);
            for (Target& target : targets)
                for (std::size_t i = 0; i < n; ++i) {
                    T value;
                    std::memcpy(&value, static_cast<char*>(target.data()) + i * sizeof(T), sizeof(T));
                    right = right && Misaligned<T>::equal(value, o.expected[i]);
                }
            EXPECT_TRUE(right) << "operator " << int(op) << " kind " << int(kind) << " n " << n << " k " << k;
            for (Target& target : targets) EXPECT_TRUE(target.guards()) << int(op) << ' ' << int(kind) << ' ' << n;
        };
        for (int kept : {-1, 0, 1})
            for (int k : {1, 2, 5})
                for (std::size_t n : {0, 1, 7, 16, 100, 613}) {
                    check(kept, k, n, {0}, false);
                    check(kept, k, n, {sizeof(T)}, true);
                    check(kept, k, n, {3, 3}, false);
                    check(kept, k, n, {0, sizeof(T), 1}, k == 2);
                    check(kept, k, n, {2 * sizeof(T), 2 * sizeof(T)}, false);
                }
    }
}

template <class T>
void both(BuiltinOp op, Basic kind, Combine<T> combine) {
    compare<T>(op, kind, combine);
    compare_many<T>(op, kind, combine);
    compare_outputs<T>(op, kind, combine);
}

using Wide = std::uint64_t;
template <class T>
T wrapped_sum(T a, T b) {
    return static_cast<T>(static_cast<Wide>(a) + static_cast<Wide>(b));
}
template <class T>
T wrapped_product(T a, T b) {
    return static_cast<T>(static_cast<Wide>(a) * static_cast<Wide>(b));
}
template <class T>
T plain_sum(T a, T b) {
    return a + b;
}
template <class T>
T plain_product(T a, T b) {
    return a * b;
}
template <class T>
T larger(T a, T b) {
    return b < a ? a : b;
}
template <class T>
T smaller(T a, T b) {
    return a < b ? a : b;
}
template <class T>
T logical_and(T a, T b) {
    return static_cast<T>(a && b);
}
template <class T>
T logical_or(T a, T b) {
    return static_cast<T>(a || b);
}
template <class T>
T logical_xor(T a, T b) {
    return static_cast<T>(!a != !b);
}

template <class T>
void check_logical(Basic kind) {
    both<T>(BuiltinOp::land, kind, logical_and<T>);
    both<T>(BuiltinOp::lor, kind, logical_or<T>);
    both<T>(BuiltinOp::lxor, kind, logical_xor<T>);
}

template <class T>
void check_bitwise(Basic kind) {
    both<T>(BuiltinOp::band, kind, [](T a, T b) { return static_cast<T>(a & b); });
    both<T>(BuiltinOp::bor, kind, [](T a, T b) { return static_cast<T>(a | b); });
    both<T>(BuiltinOp::bxor, kind, [](T a, T b) { return static_cast<T>(a ^ b); });
}

template <class T>
void check_integer(Basic kind) {
    both<T>(BuiltinOp::max, kind, larger<T>);
    both<T>(BuiltinOp::min, kind, smaller<T>);
    both<T>(BuiltinOp::sum, kind, wrapped_sum<T>);
    both<T>(BuiltinOp::prod, kind, wrapped_product<T>);
    check_logical<T>(kind);
    check_bitwise<T>(kind);
}

template <class T>
void check_floating(Basic kind) {
    both<T>(BuiltinOp::max, kind, larger<T>);
    both<T>(BuiltinOp::min, kind, smaller<T>);
    both<T>(BuiltinOp::sum, kind, plain_sum<T>);
    both<T>(BuiltinOp::prod, kind, plain_product<T>);
}

template <class T>
void check_complex(Basic kind) {
    both<T>(BuiltinOp::sum, kind, plain_sum<T>);
    both<T>(BuiltinOp::prod, kind, plain_product<T>);
}

template <class Value, class Index>
struct ValueAndIndex {
    Value value;
    Index index;
    bool operator==(ValueAndIndex const&) const = default;
};

template <class P>
void check_pair(Basic kind) {
    both<P>(BuiltinOp::minloc, kind, [](P a, P b) {
        if (a.value == b.value) return P{a.value, std::min(a.index, b.index)};
        return a.value < b.value ? a : b;
    });
    both<P>(BuiltinOp::maxloc, kind, [](P a, P b) {
        if (a.value == b.value) return P{a.value, std::min(a.index, b.index)};
        return a.value < b.value ? b : a;
    });
}

TEST(Kernels, Integers) {
    check_integer<std::int8_t>(Basic::int8);
    check_integer<std::int16_t>(Basic::int16);
    check_integer<std::int32_t>(Basic::int32);
    check_integer<std::int64_t>(Basic::int64);
    check_integer<std::uint8_t>(Basic::uint8);
    check_integer<std::uint16_t>(Basic::uint16);
    check_integer<std::uint32_t>(Basic::uint32);
    check_integer<std::uint64_t>(Basic::uint64);
}

TEST(Kernels, FloatingPointAndComplex) {
    check_floating<float>(Basic::float32);
    check_floating<double>(Basic::float64);
    check_floating<long double>(Basic::float80);
    check_floating<Quad>(Basic::float128);
    check_complex<std::complex<float>>(Basic::complex32);
    check_complex<std::complex<double>>(Basic::complex64);
    check_complex<std::complex<long double>>(Basic::complex80);
}

TEST(Kernels, LogicalsAndBytes) {
    check_logical<std::uint8_t>(Basic::c_bool);
    check_logical<std::int32_t>(Basic::fortran_logical);
    check_bitwise<std::uint8_t>(Basic::byte_);
    for (Basic const kind : {Basic::float32, Basic::float64, Basic::float80, Basic::complex64, Basic::byte_})
        for (BuiltinOp const op : {BuiltinOp::land, BuiltinOp::lor, BuiltinOp::lxor})
            EXPECT_EQ(binary_kernel(op, kind), nullptr);
}

TEST(Kernels, PairsTakeTheLowerIndexOfEqualValues) {
    check_pair<ValueAndIndex<float, int>>(Basic::float_int);
    check_pair<ValueAndIndex<double, int>>(Basic::double_int);
    check_pair<ValueAndIndex<long, int>>(Basic::long_int);
    check_pair<ValueAndIndex<int, int>>(Basic::two_int);
    check_pair<ValueAndIndex<short, int>>(Basic::short_int);
    check_pair<ValueAndIndex<long double, int>>(Basic::long_double_int);
    check_pair<ValueAndIndex<float, float>>(Basic::two_real);
    check_pair<ValueAndIndex<double, double>>(Basic::two_double);
}

template <class Value>
void check_packed(Basic kind) {
    struct [[gnu::packed]] Packed {
        Value value;
        int index;
        bool operator==(Packed const& other) const { return value == other.value && index == other.index; }
    };
    Kernels kernels = packed_pair_kernels(BuiltinOp::maxloc, kind);
    ASSERT_NE(kernels.binary, nullptr);
    Packed const a[] = {{1, 5}, {7, 2}, {3, 9}}, b[] = {{1, 4}, {6, 1}, {4, 0}};
    Packed out[3], inout[] = {b[0], b[1], b[2]};
    void const* in[] = {a, b};
    kernels.nary(in, 2, out, 3);
    kernels.binary(a, inout, 3);
    for (auto const& result : {out, inout}) {
        EXPECT_TRUE(result[0] == b[0]) << "the lower index";
        EXPECT_TRUE(result[1] == a[1] && result[2] == b[2]);
    }
}

TEST(Kernels, PairsInPackedForm) {
    check_packed<double>(Basic::double_int);
    check_packed<long>(Basic::long_int);
    check_packed<short>(Basic::short_int);
    check_packed<long double>(Basic::long_double_int);
    EXPECT_EQ(packed_pair_kernels(BuiltinOp::maxloc, Basic::two_int).binary, nullptr);
}

/// Rounding reveals the grouping: sums of many operands must be formed from the left by all kernels at every length.
TEST(Kernels, ManyOperandsAreGroupedFromTheLeft) {
    constexpr std::size_t n = 777;
    std::mt19937 random(7);
    std::vector<std::vector<float>> in(9, std::vector<float>(n));
    std::vector<void const*> pointers;
    for (auto& values : in) {
        for (float& v : values) v = std::ldexp(static_cast<float>(random()), static_cast<int>(random() % 40));
        pointers.push_back(values.data());
    }
    for (KernelTable const* table : kernel_tables()) {
        std::vector<float> out(n);
        table->get(BuiltinOp::sum, Basic::float32).nary(pointers.data(), 9, out.data(), n);
        for (std::size_t i = 0; i < n; ++i) {
            float expected = in[0][i];
            for (int j = 1; j < 9; ++j) expected += in[static_cast<std::size_t>(j)][i];
            ASSERT_EQ(out[i], expected) << i;
        }
    }
}

}   // namespace
}   // namespace tutti
