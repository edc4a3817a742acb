// SPDX-License-Identifier: BSD-3-Clause
// How a rank ends the whole job: after a fatal error, by MPI_Abort, or after a call at a wrong time.
#pragma once

#include <new>
#include <string>

namespace tutti {

/// Exit code and report of a rank that ends the job.
struct AbortReport {
    int code = 1;
    std::string message{};   ///< empty: nothing is reported
    std::string error{};     ///< name for `mpiexec --explain`: usually that of the error class
    std::string call{};      ///< the failing call, such as "MPI_Barrier(MPI_COMM_WORLD)"; empty: none
    char const* help = "";   ///< advice beyond that of the error class; without its full stop
};

/// Stores the message in this rank's state for the launcher, writes it to standard error, and exits when the launcher
/// has read the position in the program, or after two seconds. A child of a rank exits alone. Without memory, the
/// message is shorter.
[[noreturn]] void abort_job(AbortReport const& report);

/// As above, with the AbortReport that `describe` returns; `describe` may run out of memory.
template <class Describe>
[[noreturn]] void abort_job(int code, Describe const& describe) {
    try {
        abort_job(describe());
    } catch (std::bad_alloc const&) {
        abort_job(AbortReport{code, "no memory"});   // short enough to need no allocation
    }
}

/// Makes the watchdog report an exit() of this rank before MPI_Finalize; used if Tutti's launcher does not do that. The
/// report follows the program's own exit handlers and destructors, which may call MPI_Finalize.
void watch_for_exit();

/// For failures before the library has any state that could end a job.
[[noreturn]] void exit_without_memory(int code);

}   // namespace tutti
