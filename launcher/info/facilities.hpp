// SPDX-License-Identifier: BSD-3-Clause
// What the machine and the system offer that Tutti makes use of: each one tried, not guessed from a version.
#pragma once

#include <string>
#include <vector>

namespace tutti::info {

struct Facility {
    std::string name;
    bool there = false;
    std::string detail;   ///< what was found, or why not
    std::string use;      ///< what Tutti does with it
};

std::vector<Facility> facilities();

}   // namespace tutti::info
