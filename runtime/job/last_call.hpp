// SPDX-License-Identifier: BSD-3-Clause
// Records a rank's last MPI call and how its process ends (LastCall in runtime/state/rank_state.hpp).
#pragma once

#include <string>

#include "runtime/state/rank_state.hpp"

namespace tutti {

class Segment;

/// Publishes where this program and this library are loaded, for use after the end of the process.
void publish_load_addresses(LastCall& own_call);
/// From now on, records in `own_call` (LastCall::crash, crash_signal) a signal that ends this process because of one
/// of its own instructions, such as a null pointer access. Covers only signals for which neither the program nor its
/// libraries have a handler. `own_call` and `segment` must stay valid until the process ends.
/// `start`: starts the watchdog of the segment's node (runtime/job/watchdog.hpp), from a signal handler; the process
/// then waits up to a second for its report, and abort() is reported as well. Null: mpiexec reports how ranks end.
void install_crash_handlers(LastCall& own_call, Segment const& segment, bool (*start)(Segment const&));
/// Records how this process ends, and waits until the watchdog, which must be running, has reported it, at most for
/// `max_wait_ns`. Async-signal-safe.
void report_end(LastCall& own_call, LastCall::End end, std::int64_t max_wait_ns);
/// Returns the name of another rank's call, where `name` is its address in that rank's library; empty if unknown, for
/// example if that rank runs another build of the library. `other`, `own_call`: the records of both ranks, with their
/// load addresses.
std::string call_name_of(LastCall const& other, char const* name, LastCall const& own_call);
/// Returns the name of another rank's last call.
inline std::string call_name_of(LastCall const& other, LastCall const& own_call) {
    return call_name_of(other, other.name, own_call);
}

}   // namespace tutti
