// SPDX-License-Identifier: BSD-3-Clause
// Decides when a wait is published, and answers the launcher's queries.
#include "runtime/wait/observers.hpp"

#include "runtime/base/clock.hpp"

namespace tutti {
namespace {

constexpr std::int64_t publish_after_ns = 20'000'000;
// Publishing costs a hundredth of a wait of this duration if the rank has a core of its own.
constexpr std::int64_t force_publish_after_ns = 100'000'000;

/// Returns true if this wait is published, and the threads of all other published waits sleep in them and were not
/// signalled.
bool all_blocked(Observers::WaitingThread const& leader, WaitingThreads const& threads, BlockedWaits const& published) {
    std::size_t waiting = 1;
    for (Observers::WaitingThread const* p = threads.first_asleep(); p; p = p->next)
        if (p->published && p->signalled.load(std::memory_order_relaxed) == 0) ++waiting;
    return leader.published && waiting == published.size();
}

}   // namespace

Observers::Observers(Segment const& segment, RankState& rank_state)
    : segment_(segment), blocked_(rank_state.blocked),
      force_publish_ns_(force_publish_after_ns * segment.header().ranks_per_core()),
      blocked_waits_(blocked_, segment.header().ranks_per_core()) {}

bool Observers::publish(WaitingThread& wait, Reason const& reason) {
    if (wait.published) return true;
    std::int64_t const now = now_ns(), waited = now - wait.start;
    if (waited >= publish_after_ns && (blocked_waits_.may_add(now) || waited >= force_publish_ns_))
        wait.published = blocked_waits_.add(&wait, reason);
    return wait.published;
}

void Observers::publish_all(WaitingThread const& leader, RankWaits const& rank) {
    blocked_waits_.publish(
        {rank.multithreaded, all_blocked(leader, rank.threads, blocked_waits_), rank.progress_thread},
        rank.pollables.all(), now_ns());
}

bool Observers::on_empty_poll(WaitingThread& wait, Reason const& reason, RankWaits const& rank) {
    std::int64_t const now = now_ns();
    bool const was_published = wait.published;
    if (!was_published) publish(wait, reason);
    if (blocked_waits_.is_due(now)) publish_all(wait, rank);
    if (!was_published) {
        if (wait.published) notify_long_wait(now - wait.start);
        return false;
    }
    std::uint64_t const query = segment_.header().queries.load(std::memory_order_acquire);
    bool const is_queried = query != blocked_.answered_query.load(std::memory_order_relaxed);
    if (is_queried && noticed_query_ == query) return answer(query, wait, rank), false;
    if (is_queried) {
        publish_all(wait, rank);   // the awaited event may have changed
        noticed_query_ = query;
    }
    notify_long_wait(now - wait.start);
    return is_queried;
}

/// Answers a query for all threads: the conditions of those that sleep have been checked since the query as well. If
/// one of them was woken, the answer is delayed until it sleeps again or has left.
void Observers::answer(std::uint64_t query, WaitingThread const& leader, RankWaits const& rank) {
    if (!all_blocked(leader, rank.threads, blocked_waits_)) return;
    NetworkBytes bytes;
    for (Pollable const* pollable : rank.pollables.all()) pollable->count_bytes(segment_, bytes);
    blocked_.sent.store(bytes.sent, std::memory_order_relaxed);
    blocked_.received.store(bytes.received, std::memory_order_relaxed);
    blocked_.answered_query.store(query, std::memory_order_release);
}

void Observers::end_wait(WaitingThread const& wait, std::int64_t now) {
    if (wait.published) blocked_waits_.remove(&wait, now);
}

}   // namespace tutti
