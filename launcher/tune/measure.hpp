// SPDX-License-Identifier: BSD-3-Clause
// One run of tutti-bench under mpiexec, which measures several settings of one collective in turns.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "launcher/tune/plan.hpp"

namespace tutti::tune {

struct Measured {
    /// [size][setting]: median over the calls of the slowest rank's microseconds. "default": without a setting.
    std::map<std::size_t, std::map<std::string, double>> times;
    std::vector<std::string> complaints;   ///< about results that were wrong, or a run that failed
};

inline constexpr char by_default[] = "default";

/// `seconds` for each setting at each size; `seen` is told each size when all of it has been measured.
Measured measure(Contest const& contest, std::vector<std::string> const& settings, double seconds,
                 std::function<void(std::size_t)> const& seen);

/// The folder of this program, where mpiexec and tutti-bench are too.
std::string program_folder();

}   // namespace tutti::tune
