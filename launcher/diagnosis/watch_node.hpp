// SPDX-License-Identifier: BSD-3-Clause
// Looks for mistakes on one node of a job that is not mpiexec's: what the supervisor does of it, and nothing else.
#pragma once

namespace tutti::launcher {

/// Until a deadlock, or an error that a rank has found, has been told and the ranks have been asked to end the job, or
/// no rank lives. `descriptor`: of the node's segment; all others but the standard ones are closed,
/// after a byte to launch::watching_descriptor. Ranks on other
/// nodes count as able to do anything. Returns the exit code. Throws Error when it is no segment.
int watch_node(int descriptor);

}   // namespace tutti::launcher
