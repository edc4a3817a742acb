// SPDX-License-Identifier: BSD-3-Clause
// The parser of tutti-apsp's command line.
#include "options.hpp"

#include <cstdlib>

namespace apsp {
namespace {

constexpr int largest_to_verify = 2048;   // the plain computation takes vertices^3 steps and vertices^2 numbers

char const* const help =
    "Usage: mpiexec -n N tutti-apsp [options]\n\n"
    "All shortest paths of a road network by the algorithm of Floyd and Warshall, with the rows distributed over\n"
    "the ranks. Each junction in turn becomes the pivot: its owner broadcasts its row of distances, and every rank\n"
    "checks for each of its junctions whether the path through the pivot is shorter. Dead ends are never inner\n"
    "vertices of a path, so only junctions have rows; a row has one number per vertex.\n\n"
    "  --vertices N    junctions and dead ends; a broadcast is 8 N bytes (8192)\n"
    "  --junctions N   rows and broadcasts per scenario; as many as vertices for the classic problem (8)\n"
    "  --scenarios N   networks solved one after the other (2000)\n"
    "  --verify        rank 0 also solves each scenario by the textbook's three loops and compares all distances\n"
    "                  (at most 2048 vertices)\n";

}   // namespace

std::string parse(int argc, char** argv, Options& options, bool& failed) {
    failed = true;
    for (int i = 1; i < argc; ++i) {
        std::string word = argv[i];
        if (word == "--help" || word == "-h") {
            failed = false;
            return help;
        }
        if (word == "--verify") {
            options.verify = true;
            continue;
        }
        int* number = word == "--vertices"    ? &options.vertices
                      : word == "--junctions" ? &options.junctions
                      : word == "--scenarios" ? &options.scenarios
                                              : nullptr;
        if (!number) return "tutti-apsp: unknown option " + word + "; --help lists them\n";
        char const* value = i + 1 < argc ? argv[++i] : "";
        char* end = nullptr;
        long read = std::strtol(value, &end, 10);
        if (end == value || *end || read < 1 || read > 100000000)
            return "tutti-apsp: " + word + " needs a number from 1 on; see --help\n";
        *number = int(read);
    }
    if (options.junctions > options.vertices) return "tutti-apsp: more junctions than vertices\n";
    if (options.verify && options.vertices > largest_to_verify)
        return "tutti-apsp: --verify takes at most " + std::to_string(largest_to_verify) + " vertices\n";
    failed = false;
    return "";
}

}   // namespace apsp
