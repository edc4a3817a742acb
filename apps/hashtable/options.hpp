// SPDX-License-Identifier: BSD-3-Clause
// What one may choose on the command line.
#pragma once

#include <string>

namespace hashtable {

struct Options {
    int insertions = 20000; // by each rank
    int buckets = 8192;     // of each rank
    int keys = 10000;       // different ones for each rank there is; all ranks insert all of them
};

// Reads the command line. An empty return means: run. Otherwise it is what to print; `failed` says whether it is an
// error or what was asked for (--help).
std::string parse(int argc, char **argv, Options &options, bool &failed);

} // namespace hashtable
