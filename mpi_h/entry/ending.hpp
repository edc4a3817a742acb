// SPDX-License-Identifier: BSD-3-Clause
// How a rank's library ends the whole job: by an error that is fatal, by MPI_Abort, by a call at a wrong time.
#pragma once

#include <string>

namespace tutti {

struct Ending {
    int code = 1;
    std::string sentence{};   ///< may be empty: nothing is said
    std::string error{};      ///< what `mpiexec --explain` knows it as: the name of the error class mostly
    std::string call{};       ///< "MPI_Send(…)", which the program has made; empty: none
};

/// Leaves it on this rank's state for the launcher, says it on standard error, and exits when the launcher has seen
/// where the program is, or after two seconds. A rank's child ends alone.
[[noreturn]] void abort_job(Ending const& ending);

}   // namespace tutti
