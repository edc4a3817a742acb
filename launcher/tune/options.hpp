// SPDX-License-Identifier: BSD-3-Clause
// What one may choose on tutti-tune's command line.
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
    double seconds = 0;                            ///< in all; 0: as many as all of it takes
    std::string output;                            ///< a file's name; "-": standard output
    bool dry_run = false, help = false;
};

struct Complaint : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The time to be divided when none was told, for each collective and number of ranks.
inline constexpr double usual_seconds = 6;

/// Throws Complaint with a sentence. What is not said is filled in, for a machine with so many cores.
Options parse_options(std::vector<std::string> const& words, int cores);
std::string help_text();

}   // namespace tutti::tune
