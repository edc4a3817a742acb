// SPDX-License-Identifier: BSD-3-Clause
// How a rank's library ends the whole job: by an error that is fatal, by MPI_Abort, by a call at a wrong time.
#pragma once

#include <new>
#include <string>

namespace tutti {

struct Ending {
    int code = 1;
    std::string sentence{};   ///< may be empty: nothing is said
    std::string error{};      ///< what `mpiexec --explain` knows it as: the name of the error class mostly
    std::string call{};       ///< "MPI_Barrier(MPI_COMM_WORLD)", which the program has made; empty: none
    char const* help = "";    ///< what to do, if that is more than the error class tells; without its full stop
};

/// Leaves it on this rank's state for the launcher, says it on standard error, and exits when the launcher has seen
/// where the program is, or after two seconds. A rank's child ends alone. Without memory the job ends with fewer words.
[[noreturn]] void abort_job(Ending const& ending);

/// The same with the Ending that `describe` returns, whose words take memory that there may be none of.
template <class Describe>
[[noreturn]] void abort_job(int code, Describe const& describe) {
    try {
        abort_job(describe());
    } catch (std::bad_alloc const&) {
        abort_job(Ending{code, "no memory"});   // so short that it takes none
    }
}

/// From now on an exit() of this rank before MPI_Finalize is reported by the watcher, where no launcher of ours does
/// that: after the program's own exit handlers and destructors, which may call MPI_Finalize.
void watch_for_exit();

/// Before there is anything of the library that could end a job.
[[noreturn]] void end_without_memory(int code);

}   // namespace tutti
