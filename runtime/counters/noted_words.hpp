// SPDX-License-Identifier: BSD-3-Clause
// What a rank's library says before it ends the job, and where: written by the rank, read by the launcher, which turns
// the addresses into source lines while the process still stands.
#pragma once

#include <atomic>
#include <cstdint>

namespace tutti {

struct NotedWords {
    enum State : std::uint32_t {
        none,
        said,    ///< the rest is written and stays; the sentence stands on standard error as well, or soon will
        heard,   ///< the launcher has read it all, and needs the process no more
    };
    static constexpr std::size_t most_addresses = 8;

    std::atomic<State> state;
    char code[40];             ///< the error class, "MPI_ERR_RANK", or what it is otherwise, "MPI_Abort"; zero-ended
    char sentence[1024];       ///< zero-ended; a longer one is not noted
    char call[256];            ///< "MPI_Barrier(MPI_COMM_WORLD)", zero-ended; empty: none
    char help[256];            ///< what to do, zero-ended; empty: what `mpiexec --explain` says of the code
    char script[160];          ///< where the program is for its interpreter, as Blocked has it
    std::uint32_t addresses;   ///< how many of `stack` count
    std::uint64_t stack[most_addresses];   ///< return addresses in the program, the innermost first
};

}   // namespace tutti
