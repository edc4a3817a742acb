// SPDX-License-Identifier: BSD-3-Clause
// The command line of tutti-hashtable.
#pragma once

#include <string>

namespace hashtable {

struct Options {
    int insertions = 20000;   ///< by each rank
    int buckets = 8192;       ///< of each rank
    int keys = 10000;         ///< number of distinct keys per rank; all ranks insert keys of the whole range
};

/// Parses the command line. Returns an empty string if the program should run; otherwise the text to print, and sets
/// `failed` unless that is the requested help (--help).
std::string parse(int argc, char** argv, Options& options, bool& failed);

}   // namespace hashtable
