// SPDX-License-Identifier: BSD-3-Clause
// The Poisson problem: its right-hand side, error and checksum.
#include "problem.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace cg {
namespace {

double exact(double x) { return x * (1 - x) * std::exp(x); }
double source(double x) { return x * (x + 3) * std::exp(x); }   // -u''

constexpr double pi = 3.14159265358979323846;
constexpr double source_norm = 4.8233;     // square root of the integral of source^2
constexpr double greatest_fourth = 43.5;   // maximum of u's fourth derivative, at 1

}   // namespace

Problem::Problem(int count, MPI_Comm comm) : comm(comm), count(count) {
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    width = 1 / (double(count) * ranks + 1);
}

double Problem::coordinate(int index) const { return (double(rank) * count + index) * width; }

double Problem::scale() const { return std::sqrt(width) / (width * width); }

Vector Problem::right_hand_side() const {
    Vector values = zeros();
    for (int i = 1; i <= count; ++i) values[i] = source(coordinate(i)) * std::sqrt(width);
    return values;
}

double Problem::error(Vector const& solution) const {
    double mine = 0, all = 0;
    for (int i = 1; i <= count; ++i) {
        double const difference = std::fabs(solution[i] / scale() - exact(coordinate(i)));
        mine = difference <= mine ? mine : difference;   // also counts values that are not numbers
    }
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, comm);
    return all;
}

double Problem::error_allowed(double residual) const {
    // The grid's part is the remainder of Taylor's theorem under the discrete Green's function, which is at most 1/8;
    // the residual's part follows from |e| <= |e'| / 2, (e', e') = (r, e) and Poincare's inequality. A tenth is added
    // for rounding.
    double const grid = width * width / 12 * greatest_fourth / 8;
    return 1.1 * (grid + residual * source_norm / (2 * pi));
}

std::uint64_t Problem::checksum(Vector const& solution) const {
    std::uint64_t mine = 0, all = 0;
    for (int i = 1; i <= count; ++i) {
        std::uint64_t bits;
        std::memcpy(&bits, &solution[i], sizeof bits);
        mine += bits * (std::uint64_t(rank) * std::uint64_t(count) + std::uint64_t(i));
    }
    MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, comm);
    return all;
}

}   // namespace cg
