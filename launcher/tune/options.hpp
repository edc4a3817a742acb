// SPDX-License-Identifier: BSD-3-Clause
// The command line of tutti-tune.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "coll/choice/choose.hpp"

namespace tutti::tune {

struct Options {
    std::vector<int> ranks;   ///< ascending
    std::vector<coll::Collective> collectives;
    std::size_t smallest = 8, largest = 4 << 20;   ///< bytes, powers of two
    double seconds = 0;                            ///< in total; 0: as long as a full measurement takes
    std::string output;                            ///< file name; "-": standard output
    bool dry_run = false, help = false;
};

struct TuneError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Default measuring time per collective and number of ranks, in seconds.
inline constexpr double default_seconds = 6;

/// Parses the command line. Options that are not given get defaults for a machine with this many cores. Throws
/// TuneError.
Options parse_options(std::vector<std::string> const& words, int cores);
std::string help_text();

}   // namespace tutti::tune
