// SPDX-License-Identifier: BSD-3-Clause
// What tutti-bench does when it is started by hand.
#pragma once

#include "runs/plan.hpp"

namespace bench {

// Returns the exit code: 0, or 1 where a result was wrong or a run failed. Throws Complaint.
int drive(const Plan &plan);

} // namespace bench
