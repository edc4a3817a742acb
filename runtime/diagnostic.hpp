// SPDX-License-Identifier: BSD-3-Clause
// Reports usage errors of the program that a rank has detected. The rank publishes the diagnostic in its rank state
// and the launcher prints it with source lines: an error ends the job, a warning is printed at its end. Where no
// launcher supervises the rank, it starts a process that does (runtime/job/watchdog.hpp); where that program is
// missing, the rank prints the diagnostic itself.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "runtime/process.hpp"

namespace tutti {

/// A usage error of the program, or a warning about one.
struct UsageError {
    /// One rank's call that is involved in the error.
    struct Call {
        int rank;                   ///< in MPI_COMM_WORLD
        std::string text, remark;   ///< as in Diagnostic::Location
        std::uint64_t site;         ///< return address; 0: unknown
    };

    char const* code;              ///< as in `mpiexec --explain T03`
    std::string headline;          ///< equal warnings without ranks are reported once for all ranks
    std::string help;              ///< what to do, without a full stop
    std::span<Call const> calls;   ///< at most Diagnostic::max_locations; further calls are not reported
};

/// Returns the report that the launcher would print, without source locations. `severity`: "error" or "warning". An
/// error without a code has no explanation.
std::string text_of(UsageError const& error, char const* severity);

/// Prints `text` on standard error, unless another rank of the node has printed, or is printing, the report of this
/// code and headline as the last one. Returns when it has been printed, because the job may end with the calling rank,
/// at the latest after 10 s. Used by ranks that print reports themselves.
void print_once_on_node(Segment const& segment, std::string_view code, std::string_view headline,
                        std::string_view text);

/// Reports an error on behalf of the calling rank. Does not return: the launcher or the watchdog ends the job, or, if
/// there is neither or it does not respond within 10 s, the rank itself prints the error and ends the job.
[[noreturn]] void report(Process& process, UsageError const& error);
/// Reports a warning on behalf of the calling rank. Returns when the launcher or the watchdog has read it
/// (about 50 ms). If neither reads it within 10 s, or there is neither, the rank prints it itself.
void warn(Process& process, UsageError const& error);
/// Called by a rank that has completed MPI_Finalize. If the watchdog holds its warnings, returns when they are
/// printed.
void print_warnings(Process& process);

}   // namespace tutti
