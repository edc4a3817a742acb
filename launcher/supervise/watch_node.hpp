// SPDX-License-Identifier: BSD-3-Clause
// Watches the ranks of one node in a job that our mpiexec has not started, and reports what the supervisor would
// report.
#pragma once

namespace tutti::launcher {

/// Returns the exit code when no rank of the node is alive. Until then prints, once for all ranks of the node:
/// deadlocks and errors that a rank has found (Diagnostic), after which it asks blocked ranks to end the job
/// (SegmentHeader::end_code); the last messages of ranks that end the job; ranks that end without MPI_Finalize, after
/// which the job ends likewise; and warnings, when all ranks have finalised or an error ends the job. `descriptor` is
/// that of the node's segment. All other descriptors except the standard ones are closed, launch::watchdog_ready_fd
/// after a byte has been written to it. Ranks on other nodes count as able to act. Throws Error if the descriptor is
/// not a segment.
int watch_node(int descriptor);

}   // namespace tutti::launcher
