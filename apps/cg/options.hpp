// SPDX-License-Identifier: BSD-3-Clause
// The command line of tutti-cg.
#pragma once

#include <string>

namespace cg {

struct Options {
    int unknowns = 512;   ///< on each rank
    bool pipelined = false;
    double tolerance = 1e-6;
    int iterations = 0;   ///< maximum; 0: until the tolerance is reached
    int replace_interval = 50;
    int solves = 5;
};

/// Parses the command line. Returns an empty string if the program should run; otherwise the text to print, and sets
/// `failed` unless that is the requested help (--help).
std::string parse(int argc, char** argv, Options& options, bool& failed);

}   // namespace cg
