// SPDX-License-Identifier: BSD-3-Clause
// Reads blocks that other processes write concurrently. Each read is validated by the count of changes: the count is
// read before and after the rest, which is discarded unless the count was the same odd number both times. The contents
// may be arbitrary, so every length is bounded.
#include "launcher/diagnosis/blocked_ranks.hpp"

#include <algorithm>

namespace tutti::launcher {
namespace {

// A polling rank updates `last` at least every three seconds.
constexpr std::int64_t max_pause_ns = 4'000'000'000;

/// Returns the time from `then` to `now`, at least 0 whatever a rank has written as `then`.
std::int64_t since(std::int64_t then, std::int64_t now) { return now - std::clamp<std::int64_t>(then, 0, now); }

BlockedRank read_thread(BlockedThread const& published, int rank) {
    BlockedRank thread{read_call(published.call, rank)};
    thread.wait.state = RankWait::State::blocked;
    thread.wait.awaiting = published.awaiting;
    std::size_t const ranges = std::min<std::size_t>(published.ranges, BlockedThread::max_ranges);
    std::size_t const others = std::min<std::size_t>(published.further_ranges, BlockedThread::max_ranges - ranges);
    thread.wait.awaited.assign(published.awaited, published.awaited + ranges);
    thread.wait.others.assign(published.awaited + ranges, published.awaited + ranges + others);
    thread.error = read_error(published.error);
    thread.waiting_rank = published.waiting_rank;
    return thread;
}

}   // namespace

LocatedCall read_call(PublishedCall const& published, int rank) {
    std::span<std::uint64_t const> const stack = published.return_addresses();
    return {.rank = rank,
            .kind = published.kind,
            .call = text_in(published.text),
            .stack = {stack.begin(), stack.end()},
            .position = {text_in(published.script)}};
}

ErrorText read_error(PublishedError const& published) {
    return {text_in(published.code), text_in(published.headline), text_in(published.help)};
}

std::optional<BlockedRank> read_blocked(RankState const& rank_state) {
    Blocked const& published = rank_state.blocked;
    std::uint64_t const changes = published.changes.load(std::memory_order_acquire),
                        progress_count = published.progress_count.load(std::memory_order_relaxed);
    if (changes % 2 == 0) return {};
    BlockedRank rank = read_thread(published.thread[0], rank_state.world_rank);
    for (std::size_t i = 1; i < std::min<std::size_t>(published.threads, Blocked::max_threads); ++i) {
        rank.other_threads.push_back(read_thread(published.thread[i], rank.rank));
        rank.wait.other_threads.push_back(rank.other_threads.back().wait);
    }
    rank.changes = changes;
    rank.progress_count = progress_count;
    std::atomic_thread_fence(std::memory_order_acquire);
    if (published.changes.load(std::memory_order_relaxed) != changes) return {};
    return rank;
}

std::optional<BlockedRank> read_polling(RankState const& rank_state, std::int64_t now) {
    BusyPoll const& published = rank_state.busy_poll;
    std::uint64_t const changes = published.changes.load(std::memory_order_acquire);
    std::int64_t const began = published.since.load(std::memory_order_relaxed);
    bool const is_polling =
        since(published.last.load(std::memory_order_relaxed), now) < max_pause_ns &&
        rank_state.blocked.progress_count.load(std::memory_order_relaxed) == published.progress_count;
    if (changes % 2 == 0 || !is_polling) return {};
    BlockedRank rank{read_call(published.call, rank_state.world_rank), changes, published.progress_count};
    rank.polling_s = static_cast<int>(since(began, now) / 1'000'000'000);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (published.changes.load(std::memory_order_relaxed) != changes) return {};
    return rank;
}

}   // namespace tutti::launcher
