// SPDX-License-Identifier: BSD-3-Clause
// The two forms of the conjugate-gradient method. Both are collective, begin with the solution zero, and end where the
// residual is at most `tolerance` times the right-hand side or after `most_iterations`.
#pragma once

#include "problem.hpp"

namespace cg {

struct Goal {
    double tolerance;
    int most_iterations;
    int replacing; // every so many iterations the residual is computed anew: rounding drives the recurrences' away
};

struct Solution {
    Vector x;
    int iterations = 0;
    double residual = 0;  // as the recurrence has it, divided by the right-hand side's norm
    double summing = 0;   // seconds in the dot products' communication: calls and waiting
    bool reached = false; // the tolerance
};

Solution solve_blocking(const Problem &problem, const Goal &goal);
Solution solve_pipelined(const Problem &problem, const Goal &goal);

// The norm of what x leaves of the right-hand side, computed anew, divided by the right-hand side's.
double true_residual(const Problem &problem, const Vector &x);

} // namespace cg
