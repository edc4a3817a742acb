// SPDX-License-Identifier: BSD-3-Clause
// The pages of `mpiexec --explain`, one for each code of a report: the error, a minimal wrong program, a correct one,
// and the reason for MPI's rule.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tutti::launcher {

struct Explanation {
    std::string_view code;        ///< "T01", or the class of an MPI error, "MPI_ERR_RANK"
    std::string_view title;       ///< the error, in half a line
    std::string_view page;        ///< begins and ends with a line break
    std::string_view help = "";   ///< usual remedy, as a clause, for reports of this code without one of their own
};

/// Returns the usual remedy for errors with this code, as a clause; empty if no general one exists.
std::string help_for(std::string_view code);

/// Returns all explanations: errors of the program by code, then MPI errors by class.
std::span<Explanation const> explanations();

/// Returns the page of a code, in upper or lower case and with or without MPI_, or for `list` the list of all codes.
/// Throws LaunchError, with the nearest code, if there is no such code.
std::string explain(std::string_view code);

// The pages by topic, for explanations.cpp, which sorts them.

std::span<Explanation const> messages_and_ends();   ///< T06 to T09
std::span<Explanation const> checks();              ///< T10 to T18: errors that are only detected by --check
std::span<Explanation const> errors_of_calls();     ///< MPI error classes of communication calls
std::span<Explanation const> errors_of_objects();   ///< the other MPI error classes, and MPI_Abort

}   // namespace tutti::launcher
