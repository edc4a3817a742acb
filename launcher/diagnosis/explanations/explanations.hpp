// SPDX-License-Identifier: BSD-3-Clause
// The pages of `mpiexec --explain`: for each code of a report the mistake, a smallest wrong program, a right one, and
// why MPI is like that.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tutti::launcher {

struct Explanation {
    std::string_view code;        ///< "T01"; of an error its class, "MPI_ERR_RANK"
    std::string_view title;       ///< what is wrong, in half a line
    std::string_view page;        ///< begins and ends with a line break
    std::string_view help = "";   ///< what mostly helps, in half a sentence, where reports of that code bring none
};

/// What mostly helps against an error of this class, in half a sentence; empty where nothing general can be said.
std::string help_for(std::string_view code);

/// All that there are: mistakes by code, then errors by class.
std::span<Explanation const> explanations();

/// The page of a code, in whatever case, or the list of all for `list`. Throws Complaint when there is no such code.
std::string explain(std::string_view code);

}   // namespace tutti::launcher
