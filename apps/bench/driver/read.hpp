// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "../program/results/results.hpp"

namespace bench {

// What --json wrote. Throws Complaint where the file is none of these.
Results read_results(const std::string &file);

// Of several files, as one comparison: series of one name carry their file's name as well. Throws Complaint.
Results read_all(const std::vector<std::string> &files);

} // namespace bench
