// SPDX-License-Identifier: BSD-3-Clause
// The last MPI call of a rank, as its state shows it (counters/rank_state.hpp).
#pragma once

#include <string>

#include "runtime/counters/rank_state.hpp"

namespace tutti {

class Segment;

/// Shows where this program and this library are loaded, for whoever asks when the process is gone.
void show_images(LastCall& mine);
/// From now on a signal that ends this process because of an instruction of its own, such as a null pointer's, is noted
/// in LastCall::crash before it does. Only signals for which the program, or what it is made of, has no handler.
/// `start`: starts the watcher of the node of that segment (runtime/job/watcher.hpp), by a signal handler; the process
/// then waits up to a second for its report, and abort() is reported, too. Null: mpiexec reports how ranks end.
void watch_for_crashes(LastCall& mine, Segment const& segment, bool (*start)(Segment const&));
/// Notes how this process ends, and waits until the watcher, which there is, has reported it, or for `longest_ns`. May
/// be called by a signal handler.
void report_end(LastCall& mine, LastCall::End end, std::int64_t longest_ns);
/// The name of another rank's call, of which `name` is the address in that rank's library; empty: not known, as when
/// that rank runs another build of the library. `other`, `mine`: the states of both, with their images.
std::string name_of(LastCall const& other, char const* name, LastCall const& mine);
/// That of its last call.
inline std::string name_of(LastCall const& other, LastCall const& mine) { return name_of(other, other.name, mine); }

}   // namespace tutti
