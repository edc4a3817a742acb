// SPDX-License-Identifier: BSD-3-Clause
// The last MPI call of a rank, as its state shows it (counters/rank_state.hpp).
#pragma once

#include <string>

#include "runtime/counters/rank_state.hpp"

namespace tutti {

/// Shows where this program and this library are loaded, for whoever asks when the process is gone.
void show_images(LastCall& mine);
/// From now on a signal that ends this process because of an instruction of its own, such as a null pointer's, is noted
/// in LastCall::crash before it does. Only signals for which the program, or what it is made of, has no handler.
void watch_for_crashes(LastCall& mine);
/// The name of another rank's last call; empty: not known, as when that rank runs another build of the library. `mine`:
/// this rank's own state, with its images.
std::string name_of(LastCall const& other, LastCall const& mine);

}   // namespace tutti
