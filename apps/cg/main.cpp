// SPDX-License-Identifier: BSD-3-Clause
// tutti-cg: a conjugate-gradient solver for the one-dimensional Poisson problem, with a fixed number of unknowns on
// each rank. The matrix costs almost nothing, so an iteration costs what its communication costs: two messages of 8
// bytes to neighbors and one or two sums over all ranks. A plain MPI program: it builds with any MPI.
#include "../application.hpp"
#include "problem.hpp"

#include <algorithm>
#include <cinttypes>
#include <climits>
#include <cmath>
#include <cstdio>
#include <string>

namespace cg {
namespace {

// The two forms of the conjugate-gradient method: with blocking and with pipelined sums. Both are collective, begin
// with the solution zero, and end when the residual is at most `tolerance` times the right-hand side, or after
// `max_iterations`.

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

// The conjugate-gradient method as published by Hestenes and Stiefel (Journal of Research of the National Bureau of
// Standards, 1952). An iteration is one product of the matrix and a vector, which overlaps with its halo exchange,
// and two sums over all ranks, each of which the whole computation waits for.

/// Returns the dot product over all ranks. Adds the seconds in MPI to `waiting`.
double sum_over_ranks(Problem const& problem, double mine, double& waiting) {
    ExactSums<1> sums;
    sums.set(0, mine);
    double const start = MPI_Wtime();
    MPI_Allreduce(sums.mine, sums.all, sums.size, MPI_DOUBLE, MPI_SUM, problem.comm);
    waiting += MPI_Wtime() - start;
    return sums.get(0);
}

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

/// Returns the norm of the right-hand side minus A x, computed anew, divided by the norm of the right-hand side.
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
        alpha = rr / (sums.get(1) - (beta != 0 ? beta * rr / alpha : 0));
        v.advance(alpha, beta);
        if ((solution.iterations + 1) % goal.replace_interval == 0) v.compute_anew();
    }
    solution.x = std::move(v.x);
    solution.residual = std::sqrt(rr / first);
    return solution;
}

// The program: its options, and the check of the solution.

struct Options {
    int unknowns = 512;   ///< on each rank
    bool pipelined = false;
    double tolerance = 1e-6;
    int iterations = 0;   ///< maximum; 0: until the tolerance is reached
    int replace_interval = 50;
    int solves = 5;
};

/// Describes the program, whose options are stored in `o`.
apps::Application describe(Options& o) {
    constexpr int most = 100000000;
    auto const read_form = [&o](std::string const& text) {
        o.pipelined = text == "pipelined";
        return o.pipelined || text == "blocking";
    };
    return {
        "tutti-cg",
        "Solves -u'' = f between 0 and 1, u = 0 at both ends, on a uniform grid, by the conjugate-gradient method. "
        "The points are distributed over the ranks in order, the same number on each (weak scaling: more ranks, finer "
        "grid). An iteration needs the values next to a rank's own, from its two neighbors (the halo), and sums over "
        "all ranks (dot products). The number of iterations is about the number of points: compare the time of one "
        "iteration.",
        {
            apps::number_option("--unknowns", "N", o.unknowns, 1, most, "points on each rank"),
            {"--dots", "FORM", "blocking or pipelined",
             "blocking: two MPI_Allreduce per iteration, for which all ranks wait; or pipelined: one MPI_Iallreduce "
             "per iteration, which overlaps with the halo exchange and the product with the matrix (default: blocking)",
             read_form},
            apps::number_option("--tolerance", "X", o.tolerance, 1e-14, 0.5,
                                "end when the residual is X times the right-hand side; rounding allows about 1e-16 "
                                "times the square of the number of all points"),
            {"--iterations", "N", "a whole number from 1 to 100000000",
             "end after N iterations at the latest, without an error: to time a large grid (default: fail after four "
             "times as many iterations as points)",
             [&o](std::string const& text) { return apps::read_number(text, 1, most, o.iterations); }},
            apps::number_option("--replace", "N", o.replace_interval, 1, most,
                                "recompute the residual from the solution every N iterations, because rounding lets "
                                "the method's own residual diverge from it"),
            apps::number_option("--solves", "N", o.solves, 1, most,
                                "number of solves; the median of their times is reported"),
        },
        "Prints the iterations, the time per iteration, the fraction of it spent in the communication of dot "
        "products, the residual reported by the method and the recomputed one, the error against the known solution "
        "and a checksum of the solution's bits. Iterations and checksum are the same under every MPI. The exit "
        "code is 1 if the residual is not the reported one, or if the error is greater than grid and residual "
        "allow."};
}

struct Timing {
    double total, summing;   ///< seconds, of the slowest rank
};

Solution solve(Problem const& problem, Options const& options, Timing& timing) {
    double const all = double(problem.count) * problem.ranks;
    int const most = options.iterations ? options.iterations : int(std::min(4 * all + 10, double(INT_MAX)));
    const Goal goal{options.tolerance, most, options.replace_interval};
    MPI_Barrier(problem.comm);
    double const start = MPI_Wtime();
    Solution solution = options.pipelined ? solve_pipelined(problem, goal) : solve_blocking(problem, goal);
    double const mine[2] = {MPI_Wtime() - start, solution.summing};
    double slowest[2];
    MPI_Allreduce(mine, slowest, 2, MPI_DOUBLE, MPI_MAX, problem.comm);
    timing = {slowest[0], slowest[1]};
    return solution;
}

/// Returns a description of what is wrong with the solution, or an empty string. Collective.
std::string check(Problem const& problem, Options const& options, Solution const& solution, double residual,
                  double error) {
    // A residual below the tolerance may consist of rounding errors; twice as much may not.
    if (!(residual <= 2 * std::max(solution.residual, options.tolerance)))
        return "the residual is not the one reported";
    if (!solution.converged && !options.iterations) return "the tolerance was not reached; rounding may not allow it";
    if (!(error <= problem.error_allowed(residual))) return "the error is greater than grid and residual allow";
    return "";
}

/// Returns whether all results were right.
bool run(Options const& options, MPI_Comm comm) {
    const Problem problem(options.unknowns, comm);
    std::vector<Timing> timings(std::size_t(options.solves));
    Solution solution;
    std::uint64_t checksum = 0;
    bool same = true;
    for (Timing& timing : timings) {
        solution = solve(problem, options, timing);
        const std::uint64_t sum = problem.checksum(solution.x);
        same &= &timing == &timings[0] || sum == checksum;
        checksum = sum;
    }
    double const residual = true_residual(problem, solution.x), error = problem.error(solution.x);
    const std::string wrong = same ? check(problem, options, solution, residual, error) : "solutions differ";
    if (problem.rank != 0) return wrong.empty();
    std::sort(timings.begin(), timings.end(), [](auto& a, auto& b) { return a.total < b.total; });
    Timing const& median = timings[timings.size() / 2];
    std::printf("%d ranks, %d unknowns on each, %s dot products\n", problem.ranks, problem.count,
                options.pipelined ? "pipelined" : "blocking");
    std::printf("iterations         %d\n", solution.iterations);
    std::printf("time per iteration %.2f us (slowest rank, median of %d solves)\n",
                median.total / std::max(solution.iterations, 1) * 1e6, options.solves);
    std::printf("in dot products    %.0f %% of it, waiting included\n", 100 * median.summing / median.total);
    std::printf("residual           %.3g reported, %.3g computed anew\n", solution.residual, residual);
    std::printf("error              %.3g of at most %.3g\n", error, problem.error_allowed(residual));
    std::printf("checksum           %016" PRIx64 "\n", checksum);
    std::printf(wrong.empty() ? "PASSED\n" : "FAILED: %s\n", wrong.c_str());
    return wrong.empty();
}

}   // namespace
}   // namespace cg

int main(int argc, char** argv) {
    cg::Options options;
    return apps::run_application(argc, argv, cg::describe(options),
                                 [&] { return cg::run(options, MPI_COMM_WORLD) ? 0 : 1; });
}
