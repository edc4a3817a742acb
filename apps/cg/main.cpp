// SPDX-License-Identifier: BSD-3-Clause
// tutti-cg: a conjugate-gradient solver for the one-dimensional Poisson problem, with a fixed number of unknowns on
// each rank. The matrix costs almost nothing, so an iteration costs what its communication costs: two messages of 8
// bytes to neighbors and one or two sums over all ranks. A plain MPI program: it builds with any MPI.
#include "options.hpp"
#include "solver.hpp"

#include <algorithm>
#include <cinttypes>
#include <climits>
#include <cstdio>

namespace cg {
namespace {

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
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    cg::Options options;
    bool failed = false;
    const std::string message = cg::parse(argc, argv, options, failed);
    int result = failed ? 2 : 0;
    if (message.empty()) result = cg::run(options, MPI_COMM_WORLD) ? 0 : 1;
    else if (rank == 0) std::fputs(message.c_str(), failed ? stderr : stdout);
    MPI_Finalize();
    return result;
}
