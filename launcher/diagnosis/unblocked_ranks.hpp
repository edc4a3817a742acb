// SPDX-License-Identifier: BSD-3-Clause
// Ranks that show no wait, as the launcher of their node sees them from outside: where others wait for them, one of
// these is why.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

#include "launcher/diagnosis/report.hpp"
#include "launcher/source/process_stack.hpp"
#include "runtime/counters/rank_state.hpp"

namespace tutti::launcher {

struct UnblockedRank {
    /// In the order in which reports list them.
    enum class Doing : std::uint8_t {
        outside,          ///< not in MPI
        before_init,      ///< it has not called MPI_Init
        after_finalize,   ///< MPI_Finalize has returned
        unseen,           ///< in MPI or not: its stack cannot be read
        no_answer,        ///< the launcher of its node did not answer
        inside,           ///< in MPI, and has not waited there for long
    };

    int rank = -1;   ///< of MPI_COMM_WORLD
    Doing doing = Doing::unseen;
    std::string call{}, place{};   ///< its last call of MPI, "MPI_Comm_rank" at "ring.c:2 in main()"; empty: not known
    std::string now{};             ///< "at ring.c:3 in spin(), called from ring.c:9 in main()"; empty: not known
};

/// `process`: the one that is in MPI, or that has not come there yet; `stack` is its.
UnblockedRank unblocked_rank(RankState const& rank_state, pid_t process, ProcessStack const& stack,
                             KnownLines* known = nullptr);

/// The process that a rank is about: what its script runs at the moment, be it a script as well. A process without
/// children is it itself.
pid_t running_below(pid_t process);

/// Lines that say what these ranks do and where they are, those together that do the same; at most some dozens.
std::string text_of(std::vector<UnblockedRank> const& ranks);

/// A call that a rank has made, as another rank knows it.
struct MadeCall {
    int rank = -1;
    std::string call{};
    std::vector<std::uint64_t>
        stack{};     ///< return addresses in the rank's process; empty: its last call, if that fits
    Place place{};   ///< the answer
};

/// Everything that is known of ranks that run at a moment.
struct RanksSeen {
    std::vector<PlacedRank> waiting{};
    std::vector<UnblockedRank> unblocked{};
    std::vector<MadeCall> calls{};   ///< those of the inquiry whose ranks are there
};

/// Which ranks are to be looked at.
struct Inquiry {
    std::vector<int> ranks{};        ///< of MPI_COMM_WORLD; empty: all
    bool unblocked = false;          ///< also those that do not wait
    std::vector<MadeCall> calls{};   ///< where were these made?
};

/// What ranks wait for, and what the others do; empty when there is nothing to say: no rank waits,
/// and none has called MPI_Init. As text, or for tools on one line: {"waiting": [{"ranks", "call", "place", "remark"}],
/// "not_waiting": [{"ranks", "doing", "call", "place", "now"}]}.
std::string text_of(RanksSeen const& seen);
std::string json_of(RanksSeen const& seen);

}   // namespace tutti::launcher
