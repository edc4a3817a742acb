// SPDX-License-Identifier: BSD-3-Clause
// Reading under the count of changes; what another process has written may be anything.
#include "launcher/diagnosis/blocked_ranks.hpp"

#include <algorithm>

namespace tutti::launcher {

std::optional<BlockedRank> read_blocked(RankState const& rank_state) {
    Blocked const& shown = rank_state.blocked;
    BlockedRank rank{.rank = rank_state.world_rank,
                     .changes = shown.changes.load(std::memory_order_acquire),
                     .moves = shown.moves.load(std::memory_order_relaxed),
                     .wait = {.state = RankWait::State::blocked, .awaiting = shown.awaiting}};
    if (rank.changes % 2 == 0) return {};
    std::size_t const ranges = std::min<std::size_t>(shown.ranges, Blocked::most_ranges);
    std::size_t const others = std::min<std::size_t>(shown.others, Blocked::most_ranges - ranges);
    rank.wait.awaited.assign(shown.awaited, shown.awaited + ranges);
    rank.wait.others.assign(shown.awaited + ranges, shown.awaited + ranges + others);
    rank.stack.assign(shown.stack, shown.stack + std::min<std::size_t>(shown.addresses, Blocked::most_addresses));
    rank.call = text_in(shown.call);
    rank.code = text_in(shown.code);
    rank.headline = text_in(shown.headline);
    rank.help = text_in(shown.help);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (shown.changes.load(std::memory_order_relaxed) != rank.changes) return {};
    return rank;
}

std::vector<std::uint64_t> whole_stack(RankState const& rank_state, std::vector<std::uint64_t> const& noted) {
    auto const blocked = noted.empty() ? std::nullopt : read_blocked(rank_state);
    return blocked && !blocked->stack.empty() && blocked->stack.front() == noted.front() ? blocked->stack : noted;
}

}   // namespace tutti::launcher
