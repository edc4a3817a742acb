// SPDX-License-Identifier: BSD-3-Clause
// The two forms of the conjugate-gradient method. Both are collective, begin with the solution zero, and end when the
// residual is at most `tolerance` times the right-hand side, or after `max_iterations`.
#pragma once

#include "problem.hpp"

namespace cg {

struct Goal {
    double tolerance;
    int max_iterations;
    /// Iterations after which the residual is recomputed, because rounding lets the recurrence diverge from it.
    int replace_interval;
};

struct Solution {
    Vector x;
    int iterations = 0;
    double residual = 0;      ///< by the recurrence, divided by the norm of the right-hand side
    double summing = 0;       ///< seconds in the communication of dot products: calls and waiting
    bool converged = false;   ///< the tolerance was reached
};

Solution solve_blocking(Problem const& problem, Goal const& goal);
Solution solve_pipelined(Problem const& problem, Goal const& goal);

/// Returns the norm of the right-hand side minus A x, computed anew, divided by the norm of the right-hand side.
double true_residual(Problem const& problem, Vector const& x);

}   // namespace cg
