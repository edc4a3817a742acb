// SPDX-License-Identifier: BSD-3-Clause
// What is known of a rank that has ended without MPI_Finalize: its last call of MPI.
#pragma once

#include <string>

#include "launcher/diagnosis/report.hpp"
#include "runtime/counters/rank_state.hpp"

namespace tutti::launcher {

/// Of a process that is gone: names and places are read from the files that it had loaded. Empty: not known.
std::string name_in(LastCall const& call);
Place place_of(LastCall const& call);

/// T09. `how`: "was killed by signal 11"; goes on behind "rank 3 ". `signal`: by which it was killed, 0: by none.
Report report_of_end(int rank, std::string const& how, int signal, LastCall const& call);

}   // namespace tutti::launcher
