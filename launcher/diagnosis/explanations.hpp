// SPDX-License-Identifier: BSD-3-Clause
// The pages of `mpiexec --explain`: for each code of a report the mistake, a smallest wrong program, a right one, and
// why MPI is like that.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tutti::launcher {

struct Explanation {
    std::string_view code;    ///< "T01"
    std::string_view title;   ///< what is wrong, in half a line
    std::string_view page;    ///< begins and ends with a line break
};

/// All that there are, by code.
std::span<Explanation const> explanations();

/// The page of a code, in whatever case, or the list of all for `list`. Throws Complaint when there is no such code.
std::string explain(std::string_view code);

}   // namespace tutti::launcher
