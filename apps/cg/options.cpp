// SPDX-License-Identifier: BSD-3-Clause
// The parser of tutti-cg's command line.
#include "options.hpp"

#include <cstdlib>

namespace cg {
namespace {

char const* const help =
    "Usage: mpiexec -n N tutti-cg [options]\n\n"
    "Solves -u'' = f between 0 and 1, u = 0 at both ends, on a uniform grid, by the conjugate-gradient method. The\n"
    "points are distributed over the ranks in order, the same number on each (weak scaling: more ranks, finer grid).\n"
    "An iteration needs the values next to a rank's own, from its two neighbors (the halo), and sums over all ranks\n"
    "(dot products). The number of iterations is about the number of points: compare the time of one iteration.\n\n"
    "  --unknowns N    points on each rank (512)\n"
    "  --dots FORM     blocking: two MPI_Allreduce per iteration, for which all ranks wait; or pipelined: one\n"
    "                  MPI_Iallreduce per iteration, which overlaps with the halo exchange and the product with the\n"
    "                  matrix (blocking)\n"
    "  --tolerance X   end when the residual is X times the right-hand side (1e-6). Rounding allows about 1e-16\n"
    "                  times the square of the number of all points\n"
    "  --iterations N  end after N iterations at the latest, without an error: to time a large grid (default: fail\n"
    "                  after four times as many iterations as points)\n"
    "  --replace N     recompute the residual from the solution every N iterations, because rounding lets the\n"
    "                  method's own residual diverge from it (50)\n"
    "  --solves N      number of solves; the median of their times is reported (5)\n\n"
    "Prints the iterations, the time per iteration, the fraction of it spent in the communication of dot products,\n"
    "the residual reported by the method and the recomputed one, the error against the known solution and a checksum\n"
    "of the solution's bits. Iterations and checksum are the same under every MPI. The exit code is 1 if the residual\n"
    "is not the reported one, or if the error is greater than grid and residual allow.\n";

bool read(std::string const& text, double least, double most, double& number) {
    char* end = nullptr;
    number = std::strtod(text.c_str(), &end);
    return !text.empty() && !*end && number >= least && number <= most;
}

/// Returns an error message, or an empty string.
std::string apply_option(std::string const& word, std::string const& value, Options& options) {
    if (word == "--dots") {
        options.pipelined = value == "pipelined";
        return options.pipelined || value == "blocking" ? "" : "must be blocking or pipelined";
    }
    double number;
    if (word == "--tolerance")
        return read(value, 1e-14, 0.5, options.tolerance) ? "" : "needs a number from 1e-14 to 0.5";
    int* whole = word == "--unknowns"     ? &options.unknowns
                 : word == "--iterations" ? &options.iterations
                 : word == "--replace"    ? &options.replace_interval
                 : word == "--solves"     ? &options.solves
                                          : nullptr;
    if (!whole) return "is not an option";
    if (!read(value, 1, 100000000, number) || number != int(number)) return "needs a whole number from 1 to 100000000";
    *whole = int(number);
    return "";
}

}   // namespace

std::string parse(int argc, char** argv, Options& options, bool& failed) {
    failed = false;
    for (int i = 1; i < argc; i += 2) {
        const std::string word = argv[i], value = i + 1 < argc ? argv[i + 1] : "";
        if (word == "--help" || word == "-h") return help;
        const std::string error = apply_option(word, value, options);
        failed = !error.empty();
        if (failed) return "tutti-cg: " + word + " " + error + "; see --help\n";
    }
    return "";
}

}   // namespace cg
