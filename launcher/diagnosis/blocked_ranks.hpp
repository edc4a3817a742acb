// SPDX-License-Identifier: BSD-3-Clause
// What the blocked ranks of this node show of themselves, read out of the segment.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "launcher/diagnosis/deadlock.hpp"
#include "runtime/counters/rank_state.hpp"

namespace tutti::launcher {

/// One rank's block, whole: all of it was valid at one moment.
struct BlockedRank {
    int rank = -1;               ///< of the world
    std::uint64_t changes = 0;   ///< of the block, and what had moved on by then: while both stay, so does the rest
    std::uint64_t moves = 0;
    RankWait wait;
    std::string call;                   ///< "MPI_Recv(1 MPI_INT from rank 0, tag 8, MPI_COMM_WORLD)"
    std::vector<std::uint64_t> stack;   ///< return addresses in the program, the innermost first
    std::string code, headline, help;   ///< what it has noticed itself; empty: nothing
};

/// What another process has written there, zero-ended or as long as the field.
template <std::size_t N>
std::string text_in(char const (&field)[N]) {
    return {field, strnlen(field, N)};
}

/// None while the rank is not blocked, or has not been for long.
std::optional<BlockedRank> read_blocked(RankState const& rank_state);

/// A rank notes where a call was made as one address, which may lie in a library between the program and MPI. While the
/// rank is still blocked in that call, it shows more.
std::vector<std::uint64_t> whole_stack(RankState const& rank_state, std::vector<std::uint64_t> const& noted);

}   // namespace tutti::launcher
