// SPDX-License-Identifier: BSD-3-Clause
// The command line of tutti-apsp.
#pragma once

#include <string>

namespace apsp {

struct Options {
    int vertices = 8192;   ///< a row has this many doubles: 64 KiB
    int junctions = 8;
    int scenarios = 2000;
    bool verify = false;
};

/// Parses the command line. Returns an empty string if the program should run; otherwise the text to print, and sets
/// `failed` unless that is the requested help (--help).
std::string parse(int argc, char** argv, Options& options, bool& failed);

}   // namespace apsp
