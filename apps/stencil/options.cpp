// SPDX-License-Identifier: BSD-3-Clause
// The options of the stencil.
#include "options.hpp"

#include "../options.hpp"

namespace stencil {

std::string parse(int argc, char** argv, Options& o, bool& failed) {
    using apps::number_option, apps::switch_option;
    apps::CommandLine const line{
        "tutti-stencil",
        "Usage: mpiexec -n N tutti-stencil [options]\n\n"
        "Heat flows through a unit cube of blocks; the mesh follows the surface of a moving sphere.\n"
        "The heat of each variable must be conserved, and every checksum must be the same for any number of\n"
        "ranks.\n",
        {
            number_option("--cells", "N", o.cells, 2, 64, "cells per block and direction, even"),
            number_option("--roots", "N", o.roots, 1, 64, "coarsest blocks per direction"),
            number_option("--levels", "N", o.levels, 0, 8, "levels of refinement above the coarsest"),
            number_option("--variables", "N", o.variables, 1, 1000, "variables per cell"),
            number_option("--together", "N", o.together, 0, 1000, "variables sent in one message; 0: all"),
            number_option("--steps", "N", o.steps, 1, 1000000, "time steps"),
            number_option("--stages", "N", o.stages, 1, 1000, "ghost exchanges and updates per time step"),
            number_option("--refine-every", "N", o.refine_every, 0, 1000000,
                          "time steps between refinements; 0: only at the start"),
            number_option("--check-every", "N", o.check_every, 1, 1000000, "time steps between checksums"),
            number_option("--radius", "X", o.radius, 0, 2, "radius of the moving sphere in the unit cube"),
            number_option("--speed", "X", o.speed, 0, 1, "distance that the sphere's centre moves per time step"),
            switch_option("--verify", o.verify,
                          "repeat the run serially on rank 0 and compare all checksums bit for bit"),
            switch_option("--quiet", o.quiet, "print only the result"),
        },
        "",
        [&o] { return std::string(o.cells % 2 ? "--cells must be even" : ""); }};
    std::string const message = apps::parse(argc, argv, line, failed);
    if (o.together == 0 || o.together > o.variables) o.together = o.variables;
    return message;
}

}   // namespace stencil
