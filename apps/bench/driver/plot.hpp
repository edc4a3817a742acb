// SPDX-License-Identifier: BSD-3-Clause
// Time and ratio over size, as SVG.
#pragma once

#include "../program/results/results.hpp"
#include "runs/process.hpp"

namespace bench {

// One file for each operation that has more than one size; returns their names. Throws Complaint.
std::vector<std::string> plot(const Results &results, const std::string &file, const TemporaryFolder &folder);

} // namespace bench
