// SPDX-License-Identifier: BSD-3-Clause
// Runs this node's part of a job, from the creation of the segment to the exit code.
#pragma once

#include "launcher/base/job.hpp"
#include "launcher/placement/allocation.hpp"

namespace tutti::launcher {

class Elsewhere;

/// Starts and supervises the ranks that `allocation` assigns to this node. `elsewhere` represents the other nodes;
/// null if there are none. Returns the exit code of mpiexec. Throws Complaint if nothing could be started.
int launch(Job const& job, Allocation const& allocation, Elsewhere* elsewhere = nullptr);

}   // namespace tutti::launcher
