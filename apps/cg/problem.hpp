// SPDX-License-Identifier: BSD-3-Clause
// The Poisson problem -u'' = f on the interval from 0 to 1, u = 0 at both ends, on an even grid, its points distributed
// over the ranks in order. The matrix has 2 on its diagonal and -1 on both sides of it; rank r holds `count` points.
// The solution is known: u(x) = x (1 - x) exp(x).
#pragma once

#include <cstdint>
#include <mpi.h>
#include <vector>

namespace cg {

// A rank's own values, and one more on each side: the neighbours', or the boundary's zero.
using Vector = std::vector<double>;

struct Problem {
    Problem(int count, MPI_Comm comm);

    MPI_Comm comm;
    int rank, ranks, count;
    double width; // from point to point

    Vector zeros() const { return Vector(std::size_t(count) + 2); }

    // f at the points, times the root of `width`: then sums of squares are integrals, and their size does not depend
    // on the grid. What solves the matrix for it is u times `scale()`.
    Vector right_hand_side() const;
    double scale() const;

    // The greatest difference between a solution and u at the points; how great it may be where the residual is
    // `residual` times the right-hand side. Collective.
    double error(const Vector &solution) const;
    double error_allowed(double residual) const;

    // Of all bits of all ranks' values, each weighted by its place. Collective.
    std::uint64_t checksum(const Vector &solution) const;

private:
    double place(int index) const; // of the vector's element `index`, from 1 on
};

} // namespace cg
