// SPDX-License-Identifier: BSD-3-Clause
// Carrying out a job on this node, from the segment to the exit code.
#pragma once

#include "launcher/job.hpp"

namespace tutti::launcher {

/// Returns the exit code of mpiexec. Throws Complaint when nothing could be started.
int launch(Job const& job);

}  // namespace tutti::launcher
