// SPDX-License-Identifier: BSD-3-Clause
// What one may choose on the command line.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace bench {

struct Settings {
    std::vector<std::string> operations; // empty: all
    std::size_t smallest = 8, largest = 1 << 20; // bytes; sizes double in between
    int iterations = 1000;
    int warmup = 20;
    double seconds = 1.0; // at most, per line of the table
    int root = -1;        // -1: every rank in turn
    bool csv = false;
    bool limit = false;   // measure the kernel of the same memory traffic too
    bool check = true;
    bool alter = true; // write the buffers anew before each iteration
};

// Reads the command line. An empty return means: run. Otherwise it is what to print; `failed` says whether it is an
// error (a wrong option) or what was asked for (--help).
std::string parse(int argc, char **argv, Settings &settings, bool &failed);

} // namespace bench
