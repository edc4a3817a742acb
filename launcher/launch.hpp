// SPDX-License-Identifier: BSD-3-Clause
// Runs this node's part of a job, from the creation of the segment to the exit code.
#pragma once

#include "launcher/base/job.hpp"
#include "launcher/placement/allocation.hpp"

namespace tutti::launcher {

class OtherNodes;

/// Starts and supervises the ranks that `allocation` assigns to this node. `other_nodes` represents the other nodes;
/// null if there are none. Returns the exit code of mpiexec. Throws LaunchError if nothing could be started.
int launch(Job const& job, Allocation const& allocation, OtherNodes* other_nodes = nullptr);

}   // namespace tutti::launcher
