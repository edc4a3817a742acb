// SPDX-License-Identifier: BSD-3-Clause
// The three steps of the detector: suspect, ask, prove.
#include "launcher/diagnosis/deadlock_detector.hpp"

#include <algorithm>
#include <utility>

namespace tutti::launcher {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds between_suspicions = 50ms, longest_between_suspicions = 1s;

void add_all(std::vector<int>& ranks, std::vector<int> const& more) {
    ranks.insert(ranks.end(), more.begin(), more.end());
}

/// Returns all deadlocked ranks, sorted.
std::vector<int> all_of(Deadlock const& found) {
    std::vector<int> ranks;
    for (std::vector<int> const& core : found.cores) add_all(ranks, core);
    add_all(ranks, found.behind);
    std::ranges::sort(ranks);
    return ranks;
}

}   // namespace

DeadlockWatch::DeadlockWatch(std::vector<int> node_of, Ask ask)
    : node_of_(std::move(node_of)), ask_(std::move(ask)), waits_(node_of_.size()), changes_(node_of_.size()),
      pause_(between_suspicions) {}

void DeadlockWatch::hear(NodeNews const& news) {
    for (RankNews const& one : news.ranks) {
        auto const rank = static_cast<std::size_t>(one.rank);
        if (rank >= waits_.size()) continue;
        waits_[rank] = one.wait;
        changes_[rank] = one.changes;
        news_ = true;
    }
    if (!asked_ || !news.answer || news.answer->number != asked_->question.number) return;
    asked_->refused |= !news.answer->unchanged;
    ++asked_->answers;
    asked_->sum.moves += news.answer->moves;
    asked_->sum.sent += news.answer->sent;
    asked_->sum.received += news.answer->received;
}

std::optional<ProvenDeadlock> DeadlockWatch::look(Clock::time_point now) {
    look_at_answers(now);
    if (proven_ && delay_.over(knows_all(), now)) return std::exchange(proven_, {});
    if (asked_ || !news_ || now < due_) return {};
    news_ = false;
    due_ = now + between_suspicions;
    suspect();
    return {};
}

/// Evaluates the answers once all nodes that were asked have sent theirs.
void DeadlockWatch::look_at_answers(Clock::time_point now) {
    if (!asked_ || waits_for_nodes()) return;
    if (!asked_->refused && asked_->nodes.size() > 1 && !asked_->first) return ask();
    if (proves()) {
        proven_ = proven();
    } else {
        news_ = true;   // the suspicion may become true later
        due_ = now + pause_;
        pause_ = std::min(2 * pause_, longest_between_suspicions);
    }
    asked_.reset();
}

bool DeadlockWatch::waits_for_nodes() const {
    return asked_ && !asked_->refused && asked_->answers < asked_->nodes.size();
}

DeadlockWatch::Clock::time_point DeadlockWatch::due() const {
    Clock::time_point const report = proven_ ? delay_.due() : Clock::time_point::max();
    if (waits_for_nodes() || (!asked_ && !news_)) return report;
    return std::min(report, asked_ ? Clock::now() : due_);
}

void DeadlockWatch::suspect() {
    if (std::ranges::none_of(waits_, [](RankWait const& wait) { return wait.state == RankWait::State::blocked; }))
        return;
    suspected_ = find_deadlock(waits_);
    if (suspected_.empty()) pause_ = std::max(pause_ / 2, between_suspicions);
    if (suspected_.empty() || (proven_ && suspected_ == proven_->ranks)) return;
    asked_.emplace();
    for (int rank : all_of(suspected_)) {
        asked_->question.suspects.push_back({rank, changes_[static_cast<std::size_t>(rank)]});
        asked_->nodes.push_back(node_of_[static_cast<std::size_t>(rank)]);
    }
    std::ranges::sort(asked_->nodes);
    auto const repeated = std::ranges::unique(asked_->nodes);
    asked_->nodes.erase(repeated.begin(), repeated.end());
    asked_->question.number = ++questions_;
    for (int node : asked_->nodes) ask_(node, asked_->question);
}

/// Sends the second question, after all nodes have answered the first one.
void DeadlockWatch::ask() {
    asked_->first = asked_->sum;
    asked_->sum = {};
    asked_->answers = 0;
    asked_->question.number = ++questions_;
    for (int node : asked_->nodes) ask_(node, asked_->question);
}

/// Called when all nodes have answered. Between nodes, requires that no suspect progressed between the two answers, and
/// that the bytes received by the first answers equal those sent by the second ones.
bool DeadlockWatch::proves() const {
    if (asked_->refused) return false;
    if (!asked_->first) return true;   // all suspects are on one node
    return asked_->first->moves == asked_->sum.moves && asked_->first->received == asked_->sum.sent;
}

/// Returns true when every rank of the world is in the proven deadlock or has ended, so that no rank can join it.
bool DeadlockWatch::knows_all() const {
    auto const ended = std::ranges::count(waits_, RankWait::State::ended, &RankWait::state);
    return proven_->blocked.size() + static_cast<std::size_t>(ended) == waits_.size();
}

ProvenDeadlock DeadlockWatch::proven() const {
    ProvenDeadlock result{suspected_, {}, {}};
    for (int rank : all_of(result.ranks)) {
        auto const at = static_cast<std::size_t>(rank);
        result.blocked.push_back({.rank = rank, .changes = changes_[at], .wait = waits_[at]});
    }
    for (int rank = 0; rank < static_cast<int>(waits_.size()); ++rank) {
        if (waits_[static_cast<std::size_t>(rank)].state != RankWait::State::ended) continue;
        bool const awaited = std::ranges::any_of(
            result.blocked, [rank](BlockedRank const& blocked) { return awaits(blocked.wait, rank); });
        if (awaited) result.ended.push_back(rank);
    }
    return result;
}

}   // namespace tutti::launcher
