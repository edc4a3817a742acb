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
    RankWait wait{};
    std::string call{};                       ///< "MPI_Recv(1 MPI_INT from rank 0, tag 8, MPI_COMM_WORLD)"
    std::string script{};                     ///< where an interpreter says that the program is
    std::vector<std::uint64_t> stack{};       ///< return addresses in the program, the innermost first
    std::string code{}, headline{}, help{};   ///< what it has noticed itself; empty: nothing
    int noticed_of = -1;                      ///< a rank that would wait because of it; −1: it holds in any case
    std::vector<BlockedRank> also{};          ///< what its other threads wait for, each as if it were a rank
    int polling_s = -1;                       ///< seconds for which it has polled without progress; -1: it is blocked
};

/// What another process has written there, zero-ended or as long as the field.
template <std::size_t N>
std::string text_in(char const (&field)[N]) {
    return {field, strnlen(field, N)};
}

/// None while the rank is not blocked, or has not been for long.
std::optional<BlockedRank> read_blocked(RankState const& rank_state);

/// None while the rank does not poll in vain, or has not for long. `now`: of now_ns().
std::optional<BlockedRank> read_polling(RankState const& rank_state, std::int64_t now);

}   // namespace tutti::launcher
