// SPDX-License-Identifier: BSD-3-Clause
// What one may choose on the command line.
#pragma once

#include <string>

namespace apsp {

struct Options {
    int vertices = 8192; // a row is so many doubles: 64 KiB
    int junctions = 8;
    int scenarios = 2000;
    bool verify = false;
};

// Reads the command line. An empty return means: run. Otherwise it is what to print; `failed` says whether it is an
// error or what was asked for (--help).
std::string parse(int argc, char **argv, Options &options, bool &failed);

} // namespace apsp
