// SPDX-License-Identifier: BSD-3-Clause
// What is known of ranks that have ended without MPI_Finalize, or were killed after it: the last call of MPI, and the
// place of a crash.
#pragma once

#include <string>

#include "launcher/diagnosis/report.hpp"
#include "runtime/counters/rank_state.hpp"

namespace tutti::launcher {

/// Of a process that is gone: names and places are read from the files that it had loaded. Empty: not known.
std::string name_in(LastCall const& call);
Place place_of(LastCall const& call);
/// The same of any return address in the program; empty: it lies elsewhere.
Place place_in_program(LastCall const& call, std::uint64_t address);

/// Where the instruction lies by which the process was killed, if that was noted and lies in the program.
Place place_of_crash(LastCall const& call);

struct RankEnd {
    int rank;
    std::string how;       ///< "was killed by signal 11"; goes on behind "rank 3 "
    std::string process;   ///< "process 99 on host, which left a core file": a note, may be empty
    LastCall const* call;
};
/// T09, of ranks that have ended in the same way. `signal`: by which they were killed, 0: by none.
Report report_of_ends(std::vector<RankEnd> ends, int signal, bool after_finalize = false);

}   // namespace tutti::launcher
