// SPDX-License-Identifier: BSD-3-Clause
// Time and work over the number of ranks, as SVG.
#pragma once

#include "../runs/process.hpp"
#include "growth.hpp"

namespace bench {

// Where nothing is compared, one file with a curve for each operation and size; else one file for each operation and
// size, with a curve for each series. Times are those of loops where these were measured. Beside each operation, or
// the first series, a line that is proportional to p log p, from where ranks share cores on. Returns the files' names.
// Throws Complaint.
std::vector<std::string> plot_growth(const Growth &growth, const std::string &file, const TemporaryFolder &folder);

} // namespace bench
