// SPDX-License-Identifier: BSD-3-Clause
// Carrying out this node's part of a job, from the segment to the exit code.
#pragma once

#include "launcher/allocation/allocation.hpp"
#include "launcher/base/job.hpp"

namespace tutti::launcher {

class Elsewhere;

/// Starts and supervises the ranks that the allocation has for this node; `elsewhere` stands for the other nodes, null
/// when there are none. Returns the exit code of mpiexec. Throws Complaint when nothing could be started.
int launch(Job const& job, Allocation const& allocation, Elsewhere* elsewhere = nullptr);

}   // namespace tutti::launcher
