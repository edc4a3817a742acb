// SPDX-License-Identifier: BSD-3-Clause
// Reading under the count of changes; what another process has written may be anything.
#include "launcher/diagnosis/blocked_ranks.hpp"

#include <algorithm>

namespace tutti::launcher {
namespace {

constexpr std::int64_t longest_pause_ns = 4'000'000'000;   // who polls makes a note every three seconds at least

}   // namespace

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
    rank.script = text_in(shown.script);
    rank.code = text_in(shown.code);
    rank.headline = text_in(shown.headline);
    rank.help = text_in(shown.help);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (shown.changes.load(std::memory_order_relaxed) != rank.changes) return {};
    return rank;
}

std::optional<BlockedRank> read_polling(RankState const& rank_state, std::int64_t now) {
    Polling const& shown = rank_state.polling;
    std::uint64_t const changes = shown.changes.load(std::memory_order_acquire);
    std::int64_t const since = shown.since.load(std::memory_order_relaxed);
    bool const still = now - shown.last.load(std::memory_order_relaxed) < longest_pause_ns &&
                       rank_state.blocked.moves.load(std::memory_order_relaxed) == shown.moves;
    if (changes % 2 == 0 || !still) return {};
    BlockedRank rank{.rank = rank_state.world_rank, .changes = changes, .moves = shown.moves, .wait = {}};
    rank.call = text_in(shown.call) + "(…)";
    rank.script = text_in(shown.script);
    rank.stack.assign(shown.stack, shown.stack + std::min<std::size_t>(shown.addresses, Polling::most_addresses));
    rank.polling_s = static_cast<int>((now - since) / 1'000'000'000);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (shown.changes.load(std::memory_order_relaxed) != changes) return {};
    return rank;
}

}   // namespace tutti::launcher
