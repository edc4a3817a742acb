// SPDX-License-Identifier: BSD-3-Clause
// The three steps of the detector: suspect, ask, prove.
#include "launcher/diagnosis/deadlock_detector.hpp"

#include <algorithm>
#include <utility>

namespace tutti::launcher {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds search_interval = 50ms, max_pause = 1s;

void append(std::vector<int>& ranks, std::vector<int> const& more) {
    ranks.insert(ranks.end(), more.begin(), more.end());
}

/// Returns all deadlocked ranks, sorted.
std::vector<int> deadlocked_ranks(Deadlock const& found) {
    std::vector<int> ranks;
    for (std::vector<int> const& core : found.cores) append(ranks, core);
    append(ranks, found.dependents);
    std::ranges::sort(ranks);
    return ranks;
}

}   // namespace

DeadlockDetector::DeadlockDetector(std::vector<int> node_of, SendQuery send_query)
    : node_of_(std::move(node_of)), send_query_(std::move(send_query)), waits_(node_of_.size()),
      changes_(node_of_.size()), pause_(search_interval) {}

void DeadlockDetector::add(NodeUpdate const& update) {
    for (RankUpdate const& one : update.ranks) {
        auto const rank = static_cast<std::size_t>(one.rank);
        if (rank >= waits_.size()) continue;
        waits_[rank] = one.wait;
        changes_[rank] = one.changes;
        has_update_ = true;
    }
    if (!pending_ || !update.reply || update.reply->number != pending_->query.number) return;
    pending_->disproved |= !update.reply->unchanged;
    ++pending_->replies;
    pending_->sum.progress_count += update.reply->progress_count;
    pending_->sum.sent += update.reply->sent;
    pending_->sum.received += update.reply->received;
}

std::optional<ProvenDeadlock> DeadlockDetector::check(Clock::time_point now) {
    evaluate_replies(now);
    if (proven_ && delay_.is_over(is_complete(), now)) return std::exchange(proven_, {});
    if (pending_ || !has_update_ || now < due_) return {};
    has_update_ = false;
    due_ = now + search_interval;
    suspect();
    return {};
}

/// Evaluates the answers once all nodes that were asked have sent theirs.
void DeadlockDetector::evaluate_replies(Clock::time_point now) {
    if (!pending_ || is_waiting_for_replies()) return;
    if (!pending_->disproved && pending_->nodes.size() > 1 && !pending_->first_sum) return send_second_query();
    if (is_proven()) {
        proven_ = proven();
    } else {
        has_update_ = true;   // the suspicion may become true later
        due_ = now + pause_;
        pause_ = std::min(2 * pause_, max_pause);
    }
    pending_.reset();
}

bool DeadlockDetector::is_waiting_for_replies() const {
    return pending_ && !pending_->disproved && pending_->replies < pending_->nodes.size();
}

DeadlockDetector::Clock::time_point DeadlockDetector::due() const {
    Clock::time_point const report = proven_ ? delay_.due() : Clock::time_point::max();
    if (is_waiting_for_replies() || (!pending_ && !has_update_)) return report;
    return std::min(report, pending_ ? Clock::now() : due_);
}

void DeadlockDetector::suspect() {
    if (std::ranges::none_of(waits_, [](RankWait const& wait) { return wait.state == RankWait::State::blocked; }))
        return;
    suspected_ = find_deadlock(waits_);
    if (suspected_.empty()) pause_ = std::max(pause_ / 2, search_interval);
    if (suspected_.empty() || (proven_ && suspected_ == proven_->ranks)) return;
    pending_ = PendingQuery{};
    for (int rank : deadlocked_ranks(suspected_)) {
        pending_->query.suspects.push_back({rank, changes_[static_cast<std::size_t>(rank)]});
        pending_->nodes.push_back(node_of_[static_cast<std::size_t>(rank)]);
    }
    std::ranges::sort(pending_->nodes);
    auto const repeated = std::ranges::unique(pending_->nodes);
    pending_->nodes.erase(repeated.begin(), repeated.end());
    pending_->query.number = ++last_query_number_;
    for (int node : pending_->nodes) send_query_(node, pending_->query);
}

/// Sends the second query, after all nodes have answered the first one.
void DeadlockDetector::send_second_query() {
    pending_->first_sum = pending_->sum;
    pending_->sum = {};
    pending_->replies = 0;
    pending_->query.number = ++last_query_number_;
    for (int node : pending_->nodes) send_query_(node, pending_->query);
}

/// Called when all nodes have answered. Between nodes, requires that no suspect progressed between the two answers, and
/// that the bytes received by the first answers equal those sent by the second ones.
bool DeadlockDetector::is_proven() const {
    if (pending_->disproved) return false;
    if (!pending_->first_sum) return true;   // all suspects are on one node
    return pending_->first_sum->progress_count == pending_->sum.progress_count &&
           pending_->first_sum->received == pending_->sum.sent;
}

/// Returns true when every rank of the world is in the proven deadlock or has ended, so that no rank can join it.
bool DeadlockDetector::is_complete() const {
    auto const ended = std::ranges::count(waits_, RankWait::State::ended, &RankWait::state);
    return proven_->blocked.size() + static_cast<std::size_t>(ended) == waits_.size();
}

ProvenDeadlock DeadlockDetector::proven() const {
    ProvenDeadlock result{suspected_, {}, {}};
    for (int rank : deadlocked_ranks(result.ranks)) {
        auto const at = static_cast<std::size_t>(rank);
        result.blocked.push_back({{.rank = rank}, changes_[at], 0, waits_[at]});
    }
    for (int rank = 0; rank < static_cast<int>(waits_.size()); ++rank) {
        if (waits_[static_cast<std::size_t>(rank)].state != RankWait::State::ended) continue;
        bool const awaited = std::ranges::any_of(
            result.blocked, [rank](BlockedRank const& blocked) { return awaits(blocked.wait, rank); });
        if (awaited) result.ended.push_back(rank);
    }
    return result;
}

void ProvenDeadlock::complete(std::vector<BlockedRank> const& published) {
    for (BlockedRank& one : blocked) {
        auto const found = std::ranges::find(published, one.rank, &BlockedRank::rank);
        if (found != published.end()) one = *found;
    }
}

}   // namespace tutti::launcher
