// SPDX-License-Identifier: BSD-3-Clause
// Reads from the segment what the blocked and polling ranks of this node have published (Blocked, BusyPoll).
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "launcher/diagnosis/deadlock.hpp"
#include "runtime/state/rank_state.hpp"

namespace tutti::launcher {

/// A consistent copy of what one rank, or one of its threads, has published.
struct BlockedRank {
    int rank = -1;   ///< in MPI_COMM_WORLD
    /// `changes` of the block and Blocked::progress_count when it was read; while both are unchanged, the block is
    /// unchanged
    std::uint64_t changes = 0;
    std::uint64_t progress_count = 0;
    RankWait wait{};
    std::string call{};                       ///< "MPI_Recv(1 MPI_INT from rank 0, tag 8, MPI_COMM_WORLD)"
    std::string script{};                     ///< position in the program as reported by its interpreter
    std::vector<std::uint64_t> stack{};       ///< return addresses in the program, innermost first
    std::string code{}, headline{}, help{};   ///< error that the rank has detected itself; empty: none
    /// A rank that would wait because of that error; −1: the error does not depend on another rank.
    int waiting_rank = -1;
    std::vector<BlockedRank> other_threads{};   ///< waits of the other threads of the rank, each in the form of a rank
    int polling_s = -1;                         ///< seconds of polling without progress; -1: the rank is blocked
};

/// Returns the text in a field written by another process: up to the terminating zero, or the whole field.
template <std::size_t N>
std::string text_in(char const (&field)[N]) {
    return {field, strnlen(field, N)};
}

/// Returns nothing if the rank is not blocked, has not been blocked for long, or changed its block during the copy.
std::optional<BlockedRank> read_blocked(RankState const& rank_state);

/// Returns nothing if the rank does not poll without progress, has not done so for long, or changed its record during
/// the copy. `now`: from now_ns().
std::optional<BlockedRank> read_polling(RankState const& rank_state, std::int64_t now);

}   // namespace tutti::launcher
