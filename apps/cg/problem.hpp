// SPDX-License-Identifier: BSD-3-Clause
// The Poisson problem -u'' = f on the interval from 0 to 1, u = 0 at both ends, on a uniform grid whose points are
// distributed over the ranks in order. The matrix has 2 on its diagonal and -1 on both sides of it; each rank holds
// `count` points. The solution is known: u(x) = x (1 - x) exp(x).
//
// Its vectors are distributed in the same way: the values next to a rank's own are exchanged by Halo, and sums over
// all ranks are exact.
#pragma once

#include <mpi.h>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

namespace cg {

/// A rank's own values, and one more on each side: the neighbor's, or the boundary's zero.
using Vector = std::vector<double>;

struct Problem {
    Problem(int count, MPI_Comm comm);

    MPI_Comm comm;
    int rank, ranks, count;
    double width;   ///< distance between adjacent points

    Vector zeros() const { return Vector(std::size_t(count) + 2); }

    /// Returns f at the points, times the square root of `width`: sums of squares are then integrals, whose size does
    /// not depend on the grid. The solution for this right-hand side is u times `scale()`.
    Vector right_hand_side() const;
    double scale() const;

    /// Returns the greatest difference between a solution and u at the points. Collective.
    double error(Vector const& solution) const;
    /// Returns the bound of this difference if the residual is `residual` times the right-hand side.
    double error_allowed(double residual) const;

    /// Returns a checksum of all bits of all ranks' values, each weighted by its position. Collective.
    std::uint64_t checksum(Vector const& solution) const;

private:
    double coordinate(int index) const;   ///< coordinate of the vector's element `index`, from 1 on
};

inline double exact(double x) { return x * (1 - x) * std::exp(x); }
inline double source(double x) { return x * (x + 3) * std::exp(x); }   // -u''

inline constexpr double pi = 3.14159265358979323846;
inline constexpr double source_norm = 4.8233;     // square root of the integral of source^2
inline constexpr double greatest_fourth = 43.5;   // maximum of u's fourth derivative, at 1

inline Problem::Problem(int count, MPI_Comm comm) : comm(comm), count(count) {
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    width = 1 / (double(count) * ranks + 1);
}

inline double Problem::coordinate(int index) const { return (double(rank) * count + index) * width; }

inline double Problem::scale() const { return std::sqrt(width) / (width * width); }

inline Vector Problem::right_hand_side() const {
    Vector values = zeros();
    for (int i = 1; i <= count; ++i) values[i] = source(coordinate(i)) * std::sqrt(width);
    return values;
}

inline double Problem::error(Vector const& solution) const {
    double mine = 0, all = 0;
    for (int i = 1; i <= count; ++i) {
        double const difference = std::fabs(solution[i] / scale() - exact(coordinate(i)));
        mine = difference <= mine ? mine : difference;   // also counts values that are not numbers
    }
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, comm);
    return all;
}

inline double Problem::error_allowed(double residual) const {
    // The grid's part is the remainder of Taylor's theorem under the discrete Green's function, which is at most 1/8;
    // the residual's part follows from |e| <= |e'| / 2, (e', e') = (r, e) and Poincare's inequality. A tenth is added
    // for rounding.
    double const grid = width * width / 12 * greatest_fourth / 8;
    return 1.1 * (grid + residual * source_norm / (2 * pi));
}

inline std::uint64_t Problem::checksum(Vector const& solution) const {
    std::uint64_t mine = 0, all = 0;
    for (int i = 1; i <= count; ++i) {
        std::uint64_t bits;
        std::memcpy(&bits, &solution[i], sizeof bits);
        mine += bits * (std::uint64_t(rank) * std::uint64_t(count) + std::uint64_t(i));
    }
    MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, comm);
    return all;
}

// Operations on distributed vectors: elements 1 to size - 2 of a Vector are a rank's own.

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
