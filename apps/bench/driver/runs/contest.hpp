// SPDX-License-Identifier: BSD-3-Clause
// Several programs, settings and MPIs measured in turn, round after round, at each number of ranks.
#pragma once

#include "../growth/growth.hpp"
#include "candidates.hpp"
#include "plan.hpp"

namespace bench {

struct Measured {
    Growth growth; // of each run the median of the rounds, the least and the greatest of all
    bool failed = false; // something was wrong, and has been told
};

// Throws Complaint where nothing can be measured at all.
Measured hold_contest(const Plan &plan, const std::vector<Candidate> &candidates, const TemporaryFolder &folder);

} // namespace bench
