// SPDX-License-Identifier: BSD-3-Clause
// The method as Hestenes and Stiefel published it (Journal of Research of the National Bureau of Standards, 1952). An
// iteration is one product of the matrix and a vector, whose halo travels meanwhile, and two sums over all ranks, each
// of which everything waits for.
#include "exact_sums.hpp"
#include "solver.hpp"
#include "vectors.hpp"

#include <cmath>

namespace cg {
namespace {

// The dot product over all ranks. Adds the seconds in MPI to `waiting`.
double sum_over_ranks(const Problem &problem, double mine, double &waiting)
{
    ExactSums<1> sums;
    sums.set(0, mine);
    const double start = MPI_Wtime();
    MPI_Allreduce(sums.mine, sums.all, sums.size, MPI_DOUBLE, MPI_SUM, problem.comm);
    waiting += MPI_Wtime() - start;
    return sums.get(0);
}

} // namespace

Solution solve_blocking(const Problem &problem, const Goal &goal)
{
    Solution solution{problem.zeros()};
    Halo halo(problem);
    const Vector b = problem.right_hand_side();
    Vector r = b, p = b, q = problem.zeros();
    const double first = sum_over_ranks(problem, dot(r, r), solution.summing);
    const double enough = first * goal.tolerance * goal.tolerance;
    double rr = first;
    for (; rr > enough && solution.iterations < goal.most_iterations; ++solution.iterations) {
        multiply(halo, p, q);
        const double step = rr / sum_over_ranks(problem, dot(p, q), solution.summing);
        add(solution.x, step, p);
        if ((solution.iterations + 1) % goal.replacing) {
            add(r, -step, q);
        } else {
            multiply(halo, solution.x, r);
            add_to_scaled(r, -1, b);
        }
        const double before = rr;
        rr = sum_over_ranks(problem, dot(r, r), solution.summing);
        add_to_scaled(p, rr / before, r);
    }
    solution.reached = rr <= enough;
    solution.residual = std::sqrt(rr / first);
    return solution;
}

double true_residual(const Problem &problem, const Vector &x)
{
    Halo halo(problem);
    Vector copy = x, r = problem.zeros();
    const Vector b = problem.right_hand_side();
    double unused = 0;
    const double whole = sum_over_ranks(problem, dot(b, b), unused);
    multiply(halo, copy, r);
    add_to_scaled(r, -1, b);
    return std::sqrt(sum_over_ranks(problem, dot(r, r), unused) / whole);
}

} // namespace cg
