// SPDX-License-Identifier: BSD-3-Clause
// A mistake of the program that a rank's library has found, for the launcher to tell: what mpiexec prints of it is
// headline, one line per place, and what to do. The launcher turns addresses into source lines.
//
// The rank writes it while `kind` is nothing, and `kind` last. An error stays: the launcher ends the rank. A warning is
// the launcher's, which reads it and makes `kind` nothing again; a rank that waits for that in vain takes it back, by a
// swap, so that one of the two tells it. Where the watcher stands for the launcher (runtime/job/watcher.hpp), a rank
// that has warned asks at its end, by `print_warnings`, to have the warnings printed, and waits for that likewise.
#pragma once

#include <atomic>
#include <cstdint>

namespace tutti {

struct Finding {
    static constexpr std::size_t most_places = 4, most_addresses = 8;

    /// One rank's part in it.
    struct Place {
        std::int32_t rank;                     ///< in MPI_COMM_WORLD
        std::uint32_t addresses;               ///< how many of `stack` count
        std::uint64_t stack[most_addresses];   ///< return addresses in the program, the innermost first
        char call[256];                        ///< "MPI_Bcast(4 MPI_INT, root 0, MPI_COMM_WORLD)", zero-ended
        char remark[128];                      ///< "arrived, never received"; mostly empty
        char script[160];                      ///< "ring.py:12 in pass()", as in BlockedThread; mostly empty
    };

    enum class Kind : std::uint32_t { nothing, error, warning, print_warnings };

    std::atomic<Kind> kind;
    char code[8];   ///< "T03"
    char headline[256];
    char help[512];
    std::uint32_t places;
    Place place[most_places];
};

}   // namespace tutti
