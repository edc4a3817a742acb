// SPDX-License-Identifier: BSD-3-Clause
// The parser of tutti-cg's command line.
#include "options.hpp"

#include <cstdlib>

namespace cg {
namespace {

char const* const help =
    "Usage: mpiexec -n N tutti-cg [options]\n\n"
    "Solves -u'' = f between 0 and 1, u = 0 at both ends, on an even grid, by the conjugate-gradient method. The\n"
    "grid's points are dealt out to the ranks in order, each rank having as many as every other (weak scaling: more\n"
    "ranks, finer grid). An iteration needs the values next to a rank's own, from its two neighbours (the halo), and\n"
    "sums over all ranks (dot products). It takes about as many iterations as there are points: look at the time of\n"
    "one.\n\n"
    "  --unknowns N    points on each rank (512)\n"
    "  --dots FORM     blocking: two MPI_Allreduce per iteration, which all wait for; or pipelined: one\n"
    "                  MPI_Iallreduce per iteration, which travels while the halo travels and the matrix is\n"
    "                  multiplied (blocking)\n"
    "  --tolerance X   end when the residual is X times the right-hand side (1e-6). Rounding allows about 1e-16\n"
    "                  times the square of the number of all points\n"
    "  --iterations N  end after N at the latest, and do not complain about it: to time a large grid (without: give\n"
    "                  up after four times as many as there are points)\n"
    "  --replace N     compute the residual anew from the solution every N iterations, because rounding drives the\n"
    "                  method's own away from it (50)\n"
    "  --solves N      solve so often; the median of the times counts (5)\n\n"
    "It prints the iterations, the time of one, how much of it went into the dot products' communication, the\n"
    "residual reported by the method and the one computed anew, the error against the known solution and a checksum\n"
    "of the solution's bits. Iterations and checksum are the same under every MPI. The exit code is 1 where the\n"
    "residual is not the one reported or the error is greater than grid and residual allow.\n";

bool read(std::string const& text, double least, double most, double& number) {
    char* end = nullptr;
    number = std::strtod(text.c_str(), &end);
    return !text.empty() && !*end && number >= least && number <= most;
}

/// Returns an error message, or an empty string.
std::string take(std::string const& word, std::string const& value, Options& options) {
    if (word == "--dots") {
        options.pipelined = value == "pipelined";
        return options.pipelined || value == "blocking" ? "" : "must be blocking or pipelined";
    }
    double number;
    if (word == "--tolerance")
        return read(value, 1e-14, 0.5, options.tolerance) ? "" : "needs a number from 1e-14 to 0.5";
    int* whole = word == "--unknowns"     ? &options.unknowns
                 : word == "--iterations" ? &options.iterations
                 : word == "--replace"    ? &options.replacing
                 : word == "--solves"     ? &options.solves
                                          : nullptr;
    if (!whole) return "is no option";
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
        const std::string complaint = take(word, value, options);
        failed = !complaint.empty();
        if (failed) return "tutti-cg: " + word + " " + complaint + "; see --help\n";
    }
    return "";
}

}   // namespace cg
