// SPDX-License-Identifier: BSD-3-Clause
// The two forms of the conjugate-gradient method: with blocking and with pipelined sums.
#include "solver.hpp"

#include "vectors.hpp"

#include <cmath>

namespace cg {

// The conjugate-gradient method as published by Hestenes and Stiefel (Journal of Research of the National Bureau of
// Standards, 1952). An iteration is one product of the matrix and a vector, which overlaps with its halo exchange,
// and two sums over all ranks, each of which the whole computation waits for.

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

// The pipelined conjugate-gradient method, which hides its sums: one MPI_Iallreduce computes both dot products of an
// iteration during the halo exchange and the next product of the matrix (P. Ghysels and W. Vanroose, "Hiding global
// synchronization latency in the preconditioned Conjugate Gradient algorithm", Parallel Computing 40, 2014, algorithm
// 3).

namespace {

struct Pipeline {
    explicit Pipeline(Problem const& problem)
        : halo(problem), b(problem.right_hand_side()), x(problem.zeros()), r(b), w(x), p(x), s(x), z(x), q(x) {}

    /// Recomputes r = b - A x, w = A r, s = A p and z = A s by their definitions: rounding lets the many recurrences
    /// diverge from them (S. Cools and others, SIAM Journal on Matrix Analysis and Applications 39, 2018).
    void compute_anew() {
        multiply(halo, x, r);
        add_to_scaled(r, -1, b);
        multiply(halo, r, w);
        multiply(halo, p, s);
        multiply(halo, s, z);
    }

    /// Updates all vectors in one pass.
    void advance(double alpha, double beta) {
        double *x_ = x.data(), *r_ = r.data(), *w_ = w.data(), *p_ = p.data(), *s_ = s.data(), *z_ = z.data();
        double const* q_ = q.data();
#pragma GCC ivdep
        for (std::size_t i = 1; i + 1 < x.size(); ++i) {
            z_[i] = q_[i] + beta * z_[i];
            s_[i] = w_[i] + beta * s_[i];
            p_[i] = r_[i] + beta * p_[i];
            x_[i] += alpha * p_[i];
            r_[i] -= alpha * s_[i];
            w_[i] -= alpha * z_[i];
        }
    }

    Halo halo;
    Vector b, x, r, w, p, s, z, q;
};

}   // namespace

Solution solve_pipelined(Problem const& problem, Goal const& goal) {
    Solution solution;
    Pipeline v(problem);
    multiply(v.halo, v.r, v.w);
    ExactSums<2> sums;
    double first = 0, rr = 0, before = 0, alpha = 0;
    for (;; ++solution.iterations) {
        sums.set(0, dot(v.r, v.r));
        sums.set(1, dot(v.w, v.r));
        v.halo.start(v.w);
        double clock = MPI_Wtime();
        MPI_Request request;
        MPI_Iallreduce(sums.mine, sums.all, sums.size, MPI_DOUBLE, MPI_SUM, problem.comm, &request);
        solution.summing += MPI_Wtime() - clock;
        multiply_inside(v.w, v.q);
        v.halo.finish();
        multiply_ends(v.w, v.q);
        clock = MPI_Wtime();
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        solution.summing += MPI_Wtime() - clock;
        before = rr;
        rr = sums.get(0);
        first = solution.iterations ? first : rr;
        solution.converged = rr <= first * goal.tolerance * goal.tolerance;
        if (solution.converged || solution.iterations == goal.max_iterations) break;
        double const beta = solution.iterations ? rr / before : 0;
        alpha = rr / (sums.get(1) - (beta ? beta * rr / alpha : 0));
        v.advance(alpha, beta);
        if ((solution.iterations + 1) % goal.replace_interval == 0) v.compute_anew();
    }
    solution.x = std::move(v.x);
    solution.residual = std::sqrt(rr / first);
    return solution;
}

}   // namespace cg
