// SPDX-License-Identifier: BSD-3-Clause
// Reads from the segment the calls that the ranks of this node have published, and what blocked and polling ranks wait
// for (Blocked, BusyPoll).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "launcher/diagnosis/deadlock.hpp"
#include "runtime/state/rank_state.hpp"

namespace tutti::launcher {

/// A position in the program. Unknown parts are empty.
struct SourcePosition {
    std::string text;
    bool without_g = false;   ///< compiling with -g would add the source line
};

/// A call of a rank, with its position in the program as far as it is known.
struct LocatedCall {
    int rank = -1;   ///< in MPI_COMM_WORLD
    CallKind kind = CallKind::other;
    std::string call{};                   ///< "MPI_Recv(1 MPI_INT from rank 0, tag 8, MPI_COMM_WORLD)"
    std::vector<std::uint64_t> stack{};   ///< return addresses in the rank's process, innermost first
    SourcePosition position{};            ///< as the program's interpreter reports it; otherwise found from `stack`
};

/// Returns a copy of a published call. Its position is empty unless the program is interpreted.
LocatedCall read_call(PublishedCall const& published, int rank);

/// An error of the program. Without a code, it is not certain.
struct ErrorText {
    std::string code{}, headline{}, help{};
};

ErrorText read_error(PublishedError const& published);

/// A consistent copy of what one rank, or one of its threads, has published.
struct BlockedRank : LocatedCall {
    /// `changes` of the block and Blocked::progress_count when it was read; while both are unchanged, the block is
    /// unchanged
    std::uint64_t changes = 0;
    std::uint64_t progress_count = 0;
    RankWait wait{};
    ErrorText error{};   ///< error that the rank has detected itself
    /// A rank that would wait because of that error; −1: the error does not depend on another rank.
    int waiting_rank = -1;
    std::vector<BlockedRank> other_threads{};   ///< waits of the other threads of the rank, each in the form of a rank
    int polling_s = -1;                         ///< seconds of polling without progress; -1: the rank is blocked
};

/// Returns nothing if the rank is not blocked, has not been blocked for long, or changed its block during the copy.
std::optional<BlockedRank> read_blocked(RankState const& rank_state);

/// Returns nothing if the rank does not poll without progress, has not done so for long, or changed its record during
/// the copy. `now`: from now_ns().
std::optional<BlockedRank> read_polling(RankState const& rank_state, std::int64_t now);

}   // namespace tutti::launcher
