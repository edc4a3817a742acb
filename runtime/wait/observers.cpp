// SPDX-License-Identifier: BSD-3-Clause
// Decides when a wait is published, and answers the launcher's queries.
#include "runtime/wait/observers.hpp"

#include "runtime/base/clock.hpp"

namespace tutti {
namespace {

constexpr std::int64_t publish_after_ns = 20'000'000;
// Publishing costs a hundredth of a wait of this duration if the rank has a core of its own.
constexpr std::int64_t publish_in_any_case_after_ns = 100'000'000;

/// Returns true if this wait is published, and the threads of all other published waits sleep in them and were not
/// called.
bool all_wait(Observers::Wait const& leader, WaitingThreads const& threads, ShownWaits const& shown) {
    std::size_t waiting = 1;
    for (Observers::Wait const* p = threads.first_asleep(); p; p = p->next)
        if (p->shown && p->called.load(std::memory_order_relaxed) == 0) ++waiting;
    return leader.shown && waiting == shown.size();
}

}   // namespace

Observers::Observers(Segment const& segment, RankState& rank_state)
    : segment_(segment), blocked_(rank_state.blocked),
      publish_in_any_case_ns_(publish_in_any_case_after_ns * segment.header().ranks_per_core()),
      shown_waits_(blocked_, segment.header().ranks_per_core()) {}

bool Observers::show(Wait& wait, Reason const& why) {
    if (wait.shown) return true;
    std::int64_t const now = now_ns(), waited = now - wait.start;
    if (waited >= publish_after_ns && (shown_waits_.may_add(now) || waited >= publish_in_any_case_ns_))
        wait.shown = shown_waits_.add(&wait, why);
    return wait.shown;
}

void Observers::show_all(Wait const& leader, Rank const& rank) {
    shown_waits_.show({rank.several_threads, all_wait(leader, rank.threads, shown_waits_), rank.helper},
                      rank.polled.all(), now_ns());
}

bool Observers::polled_in_vain(Wait& wait, Reason const& why, Rank const& rank) {
    std::int64_t const now = now_ns();
    bool const was_shown = wait.shown;
    if (!was_shown) show(wait, why);
    if (shown_waits_.due(now)) show_all(wait, rank);
    if (!was_shown) {
        if (wait.shown) call_long_wait_watch();
        return false;
    }
    if (unsupervised_) unsupervised_(unsupervised_context_, now - wait.start);
    std::uint64_t const question = segment_.header().questions.load(std::memory_order_acquire);
    if (question == blocked_.answered.load(std::memory_order_relaxed)) {
        call_long_wait_watch();
    } else if (asked_ == question) {
        answer(question, wait, rank);
    } else {
        show_all(wait, rank);   // the awaited event may have changed
        asked_ = question;
        call_long_wait_watch();
        return true;
    }
    return false;
}

/// Answers a query for all threads: the conditions of those that sleep have been checked since the query as well. If
/// one of them was woken, the answer is delayed until it sleeps again or has left.
void Observers::answer(std::uint64_t question, Wait const& leader, Rank const& rank) {
    if (!all_wait(leader, rank.threads, shown_waits_)) return;
    NetworkBytes bytes;
    for (Pollable const* pollable : rank.polled.all()) pollable->count_bytes(segment_, bytes);
    blocked_.sent.store(bytes.sent, std::memory_order_relaxed);
    blocked_.received.store(bytes.received, std::memory_order_relaxed);
    blocked_.answered.store(question, std::memory_order_release);
}

void Observers::end(Wait const& wait, std::int64_t now) {
    if (wait.shown) shown_waits_.remove(&wait, now);
}

}   // namespace tutti
