// SPDX-License-Identifier: BSD-3-Clause
// Records a rank's last MPI call and how its process ends (LastCall in runtime/state/rank_state.hpp).
#pragma once

#include "runtime/state/rank_state.hpp"

namespace tutti {

class Segment;

/// Publishes where this program is loaded, for use after the end of the process.
void publish_program(LastCall& own_call);
/// From now on, records in `own_call` (LastCall::crash, crash_signal) a signal that ends this process because of one
/// of its own instructions, such as a null pointer access. Covers only signals for which neither the program nor its
/// libraries have a handler. `own_call` and `segment` must stay valid until the process ends.
/// `start`: starts the watchdog of the segment's node (runtime/job/watchdog.hpp), from a signal handler; the process
/// then waits up to a second for its report, and abort() is reported as well. Null: mpiexec reports how ranks end.
void install_crash_handlers(LastCall& own_call, Segment const& segment, bool (*start)(Segment const&));
/// Records how this process ends, and waits until the watchdog, which must be running, has reported it, at most for
/// `max_wait_ns`. Async-signal-safe.
void report_end(LastCall& own_call, LastCall::End end, std::int64_t max_wait_ns);

}   // namespace tutti
