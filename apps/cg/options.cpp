// SPDX-License-Identifier: BSD-3-Clause
// The options of tutti-cg.
#include "options.hpp"

#include "../options.hpp"

namespace cg {

std::string parse(int argc, char** argv, Options& o, bool& failed) {
    constexpr int most = 100000000;
    auto const read_form = [&o](std::string const& text) {
        o.pipelined = text == "pipelined";
        return o.pipelined || text == "blocking";
    };
    apps::CommandLine const line{
        "tutti-cg",
        "Usage: mpiexec -n N tutti-cg [options]\n\n"
        "Solves -u'' = f between 0 and 1, u = 0 at both ends, on a uniform grid, by the conjugate-gradient method.\n"
        "The points are distributed over the ranks in order, the same number on each (weak scaling: more ranks, finer\n"
        "grid). An iteration needs the values next to a rank's own, from its two neighbors (the halo), and sums over\n"
        "all ranks (dot products). The number of iterations is about the number of points: compare the time of one\n"
        "iteration.\n",
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
        "\nPrints the iterations, the time per iteration, the fraction of it spent in the communication of dot\n"
        "products, the residual reported by the method and the recomputed one, the error against the known solution\n"
        "and a checksum of the solution's bits. Iterations and checksum are the same under every MPI. The exit\n"
        "code is 1 if the residual is not the reported one, or if the error is greater than grid and residual\n"
        "allow.\n"};
    return apps::parse(argc, argv, line, failed);
}

}   // namespace cg
