// SPDX-License-Identifier: BSD-3-Clause
// The conjugate-gradient method as published by Hestenes and Stiefel (Journal of Research of the National Bureau of
// Standards, 1952). An iteration is one product of the matrix and a vector, which overlaps with its halo exchange,
// and two sums over all ranks, each of which the whole computation waits for.
#include "exact_sums.hpp"
#include "solver.hpp"
#include "vectors.hpp"

#include <cmath>

namespace cg {
namespace {

/// Returns the dot product over all ranks. Adds the seconds in MPI to `waiting`.
double sum_over_ranks(Problem const& problem, double mine, double& waiting) {
    ExactSums<1> sums;
    sums.set(0, mine);
    double const start = MPI_Wtime();
    MPI_Allreduce(sums.mine, sums.all, sums.size, MPI_DOUBLE, MPI_SUM, problem.comm);
    waiting += MPI_Wtime() - start;
    return sums.get(0);
}

}   // namespace

Solution solve_blocking(Problem const& problem, Goal const& goal) {
    Solution solution{problem.zeros()};
    Halo halo(problem);
    const Vector b = problem.right_hand_side();
    Vector r = b, p = b, q = problem.zeros();
    double const first = sum_over_ranks(problem, dot(r, r), solution.summing);
    double const enough = first * goal.tolerance * goal.tolerance;
    double rr = first;
    for (; rr > enough && solution.iterations < goal.max_iterations; ++solution.iterations) {
        multiply(halo, p, q);
        double const step = rr / sum_over_ranks(problem, dot(p, q), solution.summing);
        add(solution.x, step, p);
        if ((solution.iterations + 1) % goal.replace_interval) {
            add(r, -step, q);
        } else {
            multiply(halo, solution.x, r);
            add_to_scaled(r, -1, b);
        }
        double const before = rr;
        rr = sum_over_ranks(problem, dot(r, r), solution.summing);
        add_to_scaled(p, rr / before, r);
    }
    solution.converged = rr <= enough;
    solution.residual = std::sqrt(rr / first);
    return solution;
}

double true_residual(Problem const& problem, Vector const& x) {
    Halo halo(problem);
    Vector copy = x, r = problem.zeros();
    const Vector b = problem.right_hand_side();
    double unused = 0;
    double const whole = sum_over_ranks(problem, dot(b, b), unused);
    multiply(halo, copy, r);
    add_to_scaled(r, -1, b);
    return std::sqrt(sum_over_ranks(problem, dot(r, r), unused) / whole);
}

}   // namespace cg
