// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "growth/growth.hpp"

namespace bench {

// What --json of one run wrote. Throws Complaint where the file is none of these.
Results read_results(const std::string &file);

// Of several files, as one comparison: series of one name carry their file's name as well. Files of different numbers
// of ranks go together where one of them at least has several (then `cores` is not 0). Throws Complaint.
Growth read_all(const std::vector<std::string> &files);

} // namespace bench
