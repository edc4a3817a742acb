// SPDX-License-Identifier: BSD-3-Clause
// Reads blocks that other processes write concurrently. Each read is validated by the count of changes: the count is
// read before and after the rest, which is discarded unless the count was the same odd number both times. The contents
// may be arbitrary, so every length is bounded.
#include "launcher/diagnosis/blocked_ranks.hpp"

#include <algorithm>

namespace tutti::launcher {
namespace {

// A polling rank updates `last` at least every three seconds.
constexpr std::int64_t longest_pause_ns = 4'000'000'000;

/// Returns the time from `then` to `now`, at least 0 whatever a rank has written as `then`.
std::int64_t since(std::int64_t then, std::int64_t now) { return now - std::clamp<std::int64_t>(then, 0, now); }

BlockedRank read_thread(BlockedThread const& shown) {
    BlockedRank thread{.wait = {.state = RankWait::State::blocked, .awaiting = shown.awaiting}};
    std::size_t const ranges = std::min<std::size_t>(shown.ranges, BlockedThread::most_ranges);
    std::size_t const others = std::min<std::size_t>(shown.others, BlockedThread::most_ranges - ranges);
    thread.wait.awaited.assign(shown.awaited, shown.awaited + ranges);
    thread.wait.others.assign(shown.awaited + ranges, shown.awaited + ranges + others);
    thread.stack.assign(shown.stack, shown.stack + std::min<std::size_t>(shown.addresses, shown.most_addresses));
    thread.call = text_in(shown.call);
    thread.script = text_in(shown.script);
    thread.noticed_of = shown.noticed_of;
    thread.code = text_in(shown.code);
    thread.headline = text_in(shown.headline);
    thread.help = text_in(shown.help);
    return thread;
}

}   // namespace

std::optional<BlockedRank> read_blocked(RankState const& rank_state) {
    Blocked const& shown = rank_state.blocked;
    std::uint64_t const changes = shown.changes.load(std::memory_order_acquire),
                        moves = shown.moves.load(std::memory_order_relaxed);
    if (changes % 2 == 0) return {};
    BlockedRank rank = read_thread(shown.thread[0]);
    for (std::size_t i = 1; i < std::min<std::size_t>(shown.threads, Blocked::most_threads); ++i) {
        BlockedRank& other = rank.also.emplace_back(read_thread(shown.thread[i]));
        other.rank = rank_state.world_rank;
        rank.wait.also.push_back(other.wait);
    }
    rank.rank = rank_state.world_rank;
    rank.changes = changes;
    rank.moves = moves;
    std::atomic_thread_fence(std::memory_order_acquire);
    if (shown.changes.load(std::memory_order_relaxed) != changes) return {};
    return rank;
}

std::optional<BlockedRank> read_polling(RankState const& rank_state, std::int64_t now) {
    Polling const& shown = rank_state.polling;
    std::uint64_t const changes = shown.changes.load(std::memory_order_acquire);
    std::int64_t const began = shown.since.load(std::memory_order_relaxed);
    bool const still = since(shown.last.load(std::memory_order_relaxed), now) < longest_pause_ns &&
                       rank_state.blocked.moves.load(std::memory_order_relaxed) == shown.moves;
    if (changes % 2 == 0 || !still) return {};
    BlockedRank rank{.rank = rank_state.world_rank, .changes = changes, .moves = shown.moves, .wait = {}};
    rank.call = text_in(shown.call);
    rank.script = text_in(shown.script);
    rank.stack.assign(shown.stack, shown.stack + std::min<std::size_t>(shown.addresses, Polling::most_addresses));
    rank.polling_s = static_cast<int>(since(began, now) / 1'000'000'000);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (shown.changes.load(std::memory_order_relaxed) != changes) return {};
    return rank;
}

}   // namespace tutti::launcher
