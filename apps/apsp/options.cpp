// SPDX-License-Identifier: BSD-3-Clause
// The options of tutti-apsp.
#include "options.hpp"

#include "../options.hpp"

namespace apsp {

std::string parse(int argc, char** argv, Options& o, bool& failed) {
    constexpr int most = 100000000, most_verified = 2048;   // verifying takes vertices^3 steps, vertices^2 numbers
    apps::CommandLine const line{
        "tutti-apsp",
        "Usage: mpiexec -n N tutti-apsp [options]\n\n"
        "All shortest paths of a road network by the algorithm of Floyd and Warshall, with the rows distributed over\n"
        "the ranks. Each junction in turn becomes the pivot: its owner broadcasts its row of distances, and every\n"
        "rank checks for each of its junctions whether the path through the pivot is shorter. Dead ends are never\n"
        "inner vertices of a path, so only junctions have rows; a row has one number per vertex.\n",
        {
            apps::number_option("--vertices", "N", o.vertices, 1, most,
                                "junctions and dead ends; a broadcast is 8 N bytes"),
            apps::number_option("--junctions", "N", o.junctions, 1, most,
                                "rows and broadcasts per scenario; as many as vertices for the classic problem"),
            apps::number_option("--scenarios", "N", o.scenarios, 1, most, "networks solved one after the other"),
            apps::switch_option("--verify", o.verify,
                                "rank 0 also solves each scenario by the textbook's three loops and compares all "
                                "distances (at most 2048 vertices)"),
        },
        "",
        [&o] {
            if (o.junctions > o.vertices) return std::string("there are more junctions than vertices");
            bool const too_large = o.verify && o.vertices > most_verified;
            return too_large ? "--verify takes at most " + std::to_string(most_verified) + " vertices" : "";
        }};
    return apps::parse(argc, argv, line, failed);
}

}   // namespace apsp
