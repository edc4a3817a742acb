// SPDX-License-Identifier: BSD-3-Clause
// The Poisson problem -u'' = f on the interval from 0 to 1, u = 0 at both ends, on a uniform grid whose points are
// distributed over the ranks in order. The matrix has 2 on its diagonal and -1 on both sides of it; each rank holds
// `count` points. The solution is known: u(x) = x (1 - x) exp(x).
#pragma once

#include <mpi.h>
#include <cstdint>
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

}   // namespace cg
