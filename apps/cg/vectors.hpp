// SPDX-License-Identifier: BSD-3-Clause
// Operations on a rank's own part of vectors and matrix. Elements 1 to size - 2 are its own.
#pragma once

#include "halo.hpp"

namespace cg {

/// Returns a rank's part of the dot product, in independent sums that the compiler may vectorize.
inline double dot(Vector const& a, Vector const& b) {
    constexpr std::size_t lanes = 8;
    const std::size_t end = a.size() - 1;
    double sums[lanes] = {}, sum = 0;
    std::size_t i = 1;
    for (; i + lanes <= end; i += lanes)
        for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] += a[i + lane] * b[i + lane];
    for (; i < end; ++i) sum += a[i] * b[i];
    for (double lane : sums) sum += lane;
    return sum;
}

/// Multiply the matrix by v: where v's own values suffice, and at the two ends, which need the neighbors' values.
inline void multiply_inside(Vector const& v, Vector& product) {
    double const* in = v.data();
    double* __restrict out = product.data();
    for (std::size_t i = 2; i + 2 < v.size(); ++i) out[i] = 2 * in[i] - in[i - 1] - in[i + 1];
}
inline void multiply_ends(Vector const& v, Vector& product) {
    for (std::size_t i : {std::size_t(1), v.size() - 2}) product[i] = 2 * v[i] - v[i - 1] - v[i + 1];
}
inline void multiply(Halo& halo, Vector& v, Vector& product) {
    halo.start(v);
    multiply_inside(v, product);
    halo.finish();
    multiply_ends(v, product);
}

/// y += factor x
inline void add(Vector& y, double factor, Vector const& x) {
    double* out = y.data();
    double const* __restrict in = x.data();
    for (std::size_t i = 1; i + 1 < y.size(); ++i) out[i] += factor * in[i];
}

/// y = x + factor y
inline void add_to_scaled(Vector& y, double factor, Vector const& x) {
    double* out = y.data();
    double const* __restrict in = x.data();
    for (std::size_t i = 1; i + 1 < y.size(); ++i) out[i] = in[i] + factor * out[i];
}

}   // namespace cg
