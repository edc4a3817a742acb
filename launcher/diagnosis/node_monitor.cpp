// SPDX-License-Identifier: BSD-3-Clause
// Monitoring of the ranks of a node: NodeMonitor for deadlocks, StallDetector for polling without progress.
#include "launcher/diagnosis/node_monitor.hpp"

#include <algorithm>

#include "launcher/diagnosis/blocked_ranks.hpp"

namespace tutti::launcher {
namespace {

using namespace std::chrono_literals;

constexpr auto rank_check_interval = 50ms, reply_check_interval = 2ms;

bool has_ended(RankState const& rank_state) {
    RankPhase const phase = rank_state.state.load(std::memory_order_acquire);
    return phase == RankPhase::finalised || phase == RankPhase::aborted;
}

std::uint64_t changes_of(RankState const& rank_state) {
    return rank_state.blocked.changes.load(std::memory_order_acquire);
}

/// Returns true if the wait of any of its threads is unknown.
bool is_unknown(RankWait const& wait) {
    return wait.awaiting == Awaiting::unknown || std::ranges::any_of(wait.other_threads, is_unknown);
}

}   // namespace

NodeMonitor::NodeMonitor(Segment const& segment, IsAlive alive)
    : segment_(segment), alive_(std::move(alive)), last_changes_(segment.ranks()), reported_(segment.ranks()) {
    for (unsigned local_rank = 0; local_rank < segment.ranks(); ++local_rank)
        reported_[local_rank].rank = segment.rank_state(local_rank).world_rank;
}

NodeUpdate NodeMonitor::collect_update(Clock::time_point now) {
    NodeUpdate update;
    if (now < due_) return update;
    if (query_number_ && (update.reply = make_reply())) query_number_.reset();
    if (now >= next_check_) {
        next_check_ = now + rank_check_interval;
        for (unsigned local_rank = 0; local_rank < segment_.ranks(); ++local_rank) {
            RankUpdate one = check_rank(local_rank, reported_[local_rank]);
            last_changes_[local_rank] = changes_of(segment_.rank_state(local_rank));
            if (one.wait.state == reported_[local_rank].wait.state && one.changes == reported_[local_rank].changes)
                continue;
            reported_[local_rank] = one;
            update.ranks.push_back(std::move(one));
        }
    }
    due_ = query_number_ ? now + reply_check_interval : next_check_;
    return update;
}

/// A block counts only after two checks have found it: most waits are over by then and need not be reported. A rank
/// whose wait is unknown counts as not blocked.
RankUpdate NodeMonitor::check_rank(unsigned local_rank, RankUpdate const& reported) const {
    RankState const& rank_state = segment_.rank_state(local_rank);
    RankUpdate update{.rank = reported.rank, .wait = {}};
    std::uint64_t const changes = changes_of(rank_state);
    if (has_ended(rank_state) || !alive_(local_rank)) {
        update.wait.state = RankWait::State::ended;
    } else if (changes != 0 && changes == reported.changes) {
        update = reported;
    } else if (changes % 2 == 1 && changes == last_changes_[local_rank]) {
        auto blocked = read_blocked(rank_state);
        if (!blocked || is_unknown(blocked->wait)) return update;
        update.changes = blocked->changes;
        update.wait = std::move(blocked->wait);
    }
    return update;
}

/// Makes each suspect poll everything that may have arrived once more; sleeping suspects are woken for that. The bits
/// of the suspects are written, and their `progress_count` read, before `queries` is incremented: a suspect that sees
/// the new number (acquire) sees the bits, and any progress since then has changed its `progress_count`.
void NodeMonitor::start_query(WaitQuery const& query) {
    for (auto& word : segment_.suspects()) word.store(0, std::memory_order_relaxed);
    for (WaitQuery::Suspect const& one : query.suspects) segment_.suspect(one.rank);
    query_number_ = query.number;
    queried_.clear();
    for (unsigned local_rank = 0; local_rank < segment_.ranks(); ++local_rank) {
        RankState const& rank_state = segment_.rank_state(local_rank);
        auto const one = std::ranges::lower_bound(query.suspects, rank_state.world_rank, {}, &WaitQuery::Suspect::rank);
        if (one == query.suspects.end() || one->rank != rank_state.world_rank) continue;
        queried_.push_back(
            {local_rank, one->changes, rank_state.blocked.progress_count.load(std::memory_order_acquire)});
    }
    segment_query_number_ = segment_.header().queries.fetch_add(1, std::memory_order_acq_rel) + 1;
    for (QueriedRank const& one : queried_) ringer_.wake(segment_.rank_state(one.local_rank));
    due_ = std::min(due_, Clock::now() + reply_check_interval);
}

std::optional<WaitReply> NodeMonitor::make_reply() const {
    WaitReply reply{.number = *query_number_, .unchanged = true};
    bool all = true;
    for (QueriedRank const& one : queried_) {
        Blocked const& published = segment_.rank_state(one.local_rank).blocked;
        all = all && published.answered_query.load(std::memory_order_acquire) >= segment_query_number_;
        reply.sent += published.sent.load(std::memory_order_relaxed);
        reply.received += published.received.load(std::memory_order_relaxed);
        reply.progress_count += one.progress_count;
        bool const moved = published.progress_count.load(std::memory_order_relaxed) != one.progress_count;
        if (moved || changes_of(segment_.rank_state(one.local_rank)) != one.changes)
            return WaitReply{.number = *query_number_};
    }
    return all ? std::optional(reply) : std::nullopt;
}

// Stall detection: since when each rank of a node has been in the same state.

namespace {

constexpr std::chrono::seconds stall_check_interval{1};

}   // namespace

StallDetector::Activity StallDetector::activity_of(unsigned local_rank, std::int64_t now_ns) const {
    RankState const& rank_state = segment_.rank_state(local_rank);
    RankPhase const phase = rank_state.state.load(std::memory_order_acquire);
    if (!alive_(local_rank) || phase == RankPhase::finalised) return {.kind = Activity::ended};
    if (phase != RankPhase::initialised) return {};
    if (auto const blocked = read_blocked(rank_state))
        return {Activity::blocked, blocked->changes, blocked->progress_count};
    if (auto const polling = read_polling(rank_state, now_ns))
        return {Activity::polling, polling->changes, polling->progress_count};
    return {};
}

StallState StallDetector::check(Clock::time_point now, std::int64_t now_ns) {
    if (now < due_) return {};
    due_ = now + stall_check_interval;
    observations_.resize(segment_.ranks());
    StallState stall{1, 0};
    for (unsigned local_rank = 0; local_rank < segment_.ranks(); ++local_rank) {
        Activity const activity = activity_of(local_rank, now_ns);
        Observation& observed = observations_[local_rank];
        if (observed.since == Clock::time_point{} || !(activity == observed.activity)) observed = {activity, now};
        bool const is_stalled = activity.kind == Activity::ended || now - observed.since >= limit_;
        if (activity.kind == Activity::running || !is_stalled) stall.nodes = 0;
        if (activity.kind == Activity::polling) ++stall.polling;
    }
    if (stall.nodes == 0) stall.polling = 0;
    StallState const change{stall.nodes - reported_.nodes, stall.polling - reported_.polling};
    reported_ = stall;
    return change;
}

}   // namespace tutti::launcher
