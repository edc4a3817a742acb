// SPDX-License-Identifier: BSD-3-Clause
// Watches the ranks of one node of a job that our mpiexec has not started, and reports what the supervisor would.
#pragma once

namespace tutti::launcher {

/// Returns the exit code when no rank of the node lives. Until then prints, once for all ranks of the node: deadlocks
/// and errors that a rank has found (Finding), on which it asks blocked ranks to end the job (SegmentHeader::verdict);
/// the last words of ranks that end the job; ranks that end without MPI_Finalize, likewise; warnings, when the ranks
/// have finalised or an error ends the job. `descriptor`: of the node's segment; all others but the standard ones are
/// closed, after a byte to launch::watching_descriptor. Ranks on other nodes count as able to do anything. Throws Error
/// if it is no segment.
int watch_node(int descriptor);

}   // namespace tutti::launcher
