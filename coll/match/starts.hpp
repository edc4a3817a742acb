// SPDX-License-Identifier: BSD-3-Clause
// Starts of persistent collectives. They have no order among other calls, but all members of a communicator start them
// equally often (MPI 4.1, 6.13), which is compared when a member starts nothing any more.
#pragma once

#include <cstdint>
#include <string>

namespace tutti {
class Process;
}

namespace tutti::coll {

/// Of one rank on one communicator. Plain bytes, to be sent.
struct Starts {
    int rank = -1;             ///< of MPI_COMM_WORLD; -1: not known
    std::uint64_t times = 0;   ///< of all persistent collectives together
    std::uint64_t site = 0;    ///< of the last start: its call's return address; 0: there was none
};

/// Ends the job.
[[noreturn]] void report_starts(Process& process, std::string const& comm, Starts const& mine, Starts const& theirs);

}   // namespace tutti::coll
