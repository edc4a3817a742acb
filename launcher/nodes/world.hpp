// SPDX-License-Identifier: BSD-3-Clause
// From what all nodes have told to the job's map, as one node sees it.
#pragma once

#include "launcher/nodes/assignment.hpp"

namespace tutti::launcher {

/// Throws Error when the order does not fit the allocation.
World world_of(Allocation const& allocation, int here, StartOrder const& order);

}   // namespace tutti::launcher
