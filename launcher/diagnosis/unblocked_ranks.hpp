// SPDX-License-Identifier: BSD-3-Clause
// Ranks that publish no wait, as the launcher of their node observes them from outside. If other ranks wait for them,
// one of these ranks is the cause.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

#include "launcher/diagnosis/process_stack.hpp"
#include "launcher/diagnosis/report.hpp"
#include "runtime/state/rank_state.hpp"

namespace tutti::launcher {

struct UnblockedRank {
    /// In the order in which reports list them.
    enum class State : std::uint8_t {
        outside_mpi,      ///< not in MPI
        before_init,      ///< has not called MPI_Init
        after_finalize,   ///< MPI_Finalize has returned
        unknown,          ///< its stack cannot be read, so it may be in MPI or not
        no_answer,        ///< the launcher of its node did not answer
        in_mpi,           ///< in MPI, but has not waited there for long
    };

    int rank = -1;   ///< in MPI_COMM_WORLD
    State state = State::unknown;
    std::string call{}, position{};   ///< its last MPI call, "MPI_Comm_rank" at "ring.c:2 in main()"; empty: not known
    std::string now{};                ///< "at ring.c:3 in spin(), called from ring.c:9 in main()"; empty: not known
};

/// `process`: the process that has called MPI_Init, or is expected to. `stack`: the stack of that process.
UnblockedRank unblocked_rank(RankState const& rank_state, pid_t process, ProcessStack const& stack,
                             LineCache* cache = nullptr);

/// Returns the process that does the work of a rank: the descendant that its script is running, which may be a script
/// as well. Returns `process` if it has no children.
pid_t working_descendant(pid_t process);

/// Returns lines that state what these ranks do and where they are, with ranks in the same state on one line; some
/// dozens of lines at most.
std::string text_of(std::vector<UnblockedRank> const& ranks);

/// The state of ranks at one moment.
struct RankStates {
    std::vector<BlockedRank> waiting{};
    std::vector<UnblockedRank> unblocked{};
    std::vector<LocatedCall> calls{};   ///< the calls of the query whose ranks are on this node
};

/// A request for the state of ranks.
struct RankQuery {
    std::vector<int> ranks{};   ///< in MPI_COMM_WORLD; empty: all
    bool unblocked = false;     ///< include ranks that do not wait
    /// Calls whose positions are requested. Without a stack: the rank's last call, if the name matches.
    std::vector<LocatedCall> calls{};
};

/// Returns what ranks wait for, and what the others do. Empty if no rank waits and none has called MPI_Init. As text,
/// or for tools on one line: {"waiting": [{"ranks", "call", "place", "remark"}], "not_waiting": [{"ranks", "doing",
/// "call", "place", "now"}]}.
std::string text_of(RankStates const& states);
std::string json_of(RankStates const& states);

}   // namespace tutti::launcher
