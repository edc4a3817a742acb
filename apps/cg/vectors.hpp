// SPDX-License-Identifier: BSD-3-Clause
// What a rank computes on its own part of vectors and matrix. Elements 1 to size - 2 are its own.
#pragma once

#include "halo.hpp"

namespace cg {

// A rank's part of the sum of products, in lanes that the compiler may put into vectors.
inline double dot(const Vector &a, const Vector &b)
{
    constexpr std::size_t lanes = 8;
    const std::size_t end = a.size() - 1;
    double sums[lanes] = {}, sum = 0;
    std::size_t i = 1;
    for (; i + lanes <= end; i += lanes)
        for (std::size_t lane = 0; lane < lanes; ++lane)
            sums[lane] += a[i + lane] * b[i + lane];
    for (; i < end; ++i)
        sum += a[i] * b[i];
    for (double lane : sums)
        sum += lane;
    return sum;
}

// The matrix times v where v's own values suffice, and at the two ends, which want the neighbours' values.
inline void multiply_inside(const Vector &v, Vector &product)
{
    const double *in = v.data();
    double *__restrict out = product.data();
    for (std::size_t i = 2; i + 2 < v.size(); ++i)
        out[i] = 2 * in[i] - in[i - 1] - in[i + 1];
}
inline void multiply_ends(const Vector &v, Vector &product)
{
    for (std::size_t i : {std::size_t(1), v.size() - 2})
        product[i] = 2 * v[i] - v[i - 1] - v[i + 1];
}
inline void multiply(Halo &halo, Vector &v, Vector &product)
{
    halo.start(v);
    multiply_inside(v, product);
    halo.finish();
    multiply_ends(v, product);
}

// y += factor x
inline void add(Vector &y, double factor, const Vector &x)
{
    double *out = y.data();
    const double *__restrict in = x.data();
    for (std::size_t i = 1; i + 1 < y.size(); ++i)
        out[i] += factor * in[i];
}

// y = x + factor y
inline void add_to_scaled(Vector &y, double factor, const Vector &x)
{
    double *out = y.data();
    const double *__restrict in = x.data();
    for (std::size_t i = 1; i + 1 < y.size(); ++i)
        out[i] = in[i] + factor * out[i];
}

} // namespace cg
