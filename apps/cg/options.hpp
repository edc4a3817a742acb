// SPDX-License-Identifier: BSD-3-Clause
// What one may choose on the command line.
#pragma once

#include <string>

namespace cg {

struct Options {
    int unknowns = 512; // on each rank
    bool pipelined = false;
    double tolerance = 1e-6;
    int iterations = 0; // at most; 0: until the tolerance is reached
    int replacing = 50;
    int solves = 5;
};

// Reads the command line. An empty return means: run. Otherwise it is what to print; `failed` says whether it is an
// error or what was asked for (--help).
std::string parse(int argc, char **argv, Options &options, bool &failed);

} // namespace cg
