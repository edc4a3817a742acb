// SPDX-License-Identifier: BSD-3-Clause
// Operations on distributed vectors. Elements 1 to size - 2 of a Vector are a rank's own; its neighbors' values next to
// them are exchanged by Halo, and sums over all ranks are exact.
#pragma once

#include "problem.hpp"

namespace cg {

// The values next to a rank's own: one on the left and one on the right, each a message of 8 bytes. Beyond the ends
// of the interval the neighbor is MPI_PROC_NULL, and the value there stays zero, which is the boundary condition.
class Halo {
public:
    explicit Halo(Problem const& problem)
        : comm_(problem.comm), left_(problem.rank > 0 ? problem.rank - 1 : MPI_PROC_NULL),
          right_(problem.rank + 1 < problem.ranks ? problem.rank + 1 : MPI_PROC_NULL) {}

    /// Until finish(), the vector may be read, but neither written nor read beyond this rank's values.
    void start(Vector& v) {
        double *first = v.data() + 1, *last = v.data() + v.size() - 2;
        MPI_Irecv(first - 1, 1, MPI_DOUBLE, left_, to_right, comm_, &requests_[0]);
        MPI_Irecv(last + 1, 1, MPI_DOUBLE, right_, to_left, comm_, &requests_[1]);
        MPI_Isend(first, 1, MPI_DOUBLE, left_, to_left, comm_, &requests_[2]);
        MPI_Isend(last, 1, MPI_DOUBLE, right_, to_right, comm_, &requests_[3]);
    }

    void finish() { MPI_Waitall(4, requests_, MPI_STATUSES_IGNORE); }

private:
    enum Tag { to_left, to_right };

    MPI_Comm comm_;
    int left_, right_;
    MPI_Request requests_[4];
};

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

// Sums of doubles over the ranks whose bits depend neither on the order nor on the grouping of MPI's additions, so
// that a run is the same under every MPI and every algorithm. Each double is cut at fixed positions into four parts,
// none of which needs rounding in a sum over up to 1024 ranks (pre-rounding: Demmel and Nguyen, "Parallel
// Reproducible Summation", IEEE Transactions on Computers, 2015). Each sum costs 32 bytes.

/// Several sums in one message: set all, let MPI add `size` doubles from `mine` to `all`, get all.
template <int sums>
class ExactSums {
public:
    static constexpr int parts = 4, size = sums * parts;
    double mine[size], all[size];

    void set(int sum, double value) {
        for (int part = 0; part < parts; ++part) {
            // Adding and subtracting 1.5 * 2^52 units rounds to whole units.
            double const rounder = 6755399441055744.0 * units[part];
            double const piece = (value + rounder) - rounder;
            mine[sum * parts + part] = piece;
            value -= piece;
        }
    }

    double get(int sum) const {
        double value = 0;
        for (int part = parts - 1; part >= 0; --part) value += all[sum * parts + part];
        return value;
    }

private:
    /// 43 bits apart: for values below about 2^53, with an absolute accuracy of 2^-119.
    static constexpr double units[parts] = {0x1p10, 0x1p-33, 0x1p-76, 0x1p-119};
};

}   // namespace cg
