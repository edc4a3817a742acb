// SPDX-License-Identifier: BSD-3-Clause
// Monitoring of the ranks of a node: NodeWatch for deadlocks, Stillness for polling without progress.
#include "launcher/diagnosis/node_monitor.hpp"

#include <algorithm>

#include "launcher/diagnosis/blocked_ranks.hpp"
#include "runtime/base/flag.hpp"

namespace tutti::launcher {
namespace {

using namespace std::chrono_literals;

constexpr auto between_looks = 50ms, between_answers = 2ms;

bool has_ended(RankState const& rank_state) {
    RankPhase const phase = rank_state.state.load(std::memory_order_acquire);
    return phase == RankPhase::finalised || phase == RankPhase::aborted;
}

std::uint64_t changes_of(RankState const& rank_state) {
    return rank_state.blocked.changes.load(std::memory_order_acquire);
}

/// Returns true if the wait of any of its threads is unknown.
bool is_unknown(RankWait const& wait) {
    return wait.awaiting == Awaiting::unknown || std::ranges::any_of(wait.also, is_unknown);
}

}   // namespace

NodeWatch::NodeWatch(Segment const& segment, IsAlive alive)
    : segment_(segment), alive_(std::move(alive)), seen_(segment.ranks()), told_(segment.ranks()) {
    for (unsigned place = 0; place < segment.ranks(); ++place) told_[place].rank = segment.rank_state(place).world_rank;
}

NodeNews NodeWatch::news(Clock::time_point now) {
    NodeNews news;
    if (now < due_) return news;
    if (question_ && (news.answer = answer())) question_.reset();
    if (now >= look_) {
        look_ = now + between_looks;
        for (unsigned place = 0; place < segment_.ranks(); ++place) {
            RankNews one = look_at(place, told_[place]);
            seen_[place] = changes_of(segment_.rank_state(place));
            if (one.wait.state == told_[place].wait.state && one.changes == told_[place].changes) continue;
            told_[place] = one;
            news.ranks.push_back(std::move(one));
        }
    }
    due_ = question_ ? now + between_answers : look_;
    return news;
}

/// A block counts only after two checks have found it: most waits are over by then and need not be reported. A rank
/// whose wait is unknown counts as not blocked.
RankNews NodeWatch::look_at(unsigned place, RankNews const& told) const {
    RankState const& rank_state = segment_.rank_state(place);
    RankNews news{.rank = told.rank, .wait = {}};
    std::uint64_t const changes = changes_of(rank_state);
    if (has_ended(rank_state) || !alive_(place)) {
        news.wait.state = RankWait::State::ended;
    } else if (changes != 0 && changes == told.changes) {
        news = told;
    } else if (changes % 2 == 1 && changes == seen_[place]) {
        auto blocked = read_blocked(rank_state);
        if (!blocked || is_unknown(blocked->wait)) return news;
        news.changes = blocked->changes;
        news.wait = std::move(blocked->wait);
    }
    return news;
}

/// Makes each suspect poll everything that may have arrived once more; sleeping suspects are woken for that. The bits
/// of the suspects are written, and their `moves` read, before `questions` is incremented: a suspect that sees the new
/// number (acquire) sees the bits, and any progress since then has changed its `moves`.
void NodeWatch::ask(Question const& question) {
    for (auto& word : segment_.suspects()) word.store(0, std::memory_order_relaxed);
    for (Question::Suspect const& one : question.suspects) segment_.suspect(one.rank);
    question_ = question.number;
    asked_.clear();
    for (unsigned place = 0; place < segment_.ranks(); ++place) {
        RankState const& rank_state = segment_.rank_state(place);
        auto const one =
            std::ranges::lower_bound(question.suspects, rank_state.world_rank, {}, &Question::Suspect::rank);
        if (one == question.suspects.end() || one->rank != rank_state.world_rank) continue;
        asked_.push_back({place, one->changes, rank_state.blocked.moves.load(std::memory_order_acquire)});
    }
    asked_as_ = segment_.header().questions.fetch_add(1, std::memory_order_acq_rel) + 1;
    for (Asked const& one : asked_) {
        RankState& rank_state = segment_.rank_state(one.place);
        rank_state.wake.fetch_add(1, std::memory_order_release);
        if (rank_state.bell.load(std::memory_order_acquire) == 0) futex_wake(rank_state.wake, everybody);
        else ringer_.ring(rank_state);
    }
    due_ = std::min(due_, Clock::now() + between_answers);
}

std::optional<Answer> NodeWatch::answer() const {
    Answer answer{.number = *question_, .unchanged = true};
    bool all = true;
    for (Asked const& one : asked_) {
        Blocked const& shown = segment_.rank_state(one.place).blocked;
        all = all && shown.answered.load(std::memory_order_acquire) >= asked_as_;
        answer.sent += shown.sent.load(std::memory_order_relaxed);
        answer.received += shown.received.load(std::memory_order_relaxed);
        answer.moves += one.moves;
        bool const moved = shown.moves.load(std::memory_order_relaxed) != one.moves;
        if (moved || changes_of(segment_.rank_state(one.place)) != one.changes) return Answer{.number = *question_};
    }
    return all ? std::optional(answer) : std::nullopt;
}

// Stall detection: since when each rank of a node has been in the same state.

namespace {

constexpr std::chrono::seconds once_a_second{1};

}   // namespace

Stillness::Doing Stillness::doing_at(unsigned place, std::int64_t now_ns) const {
    RankState const& rank_state = segment_.rank_state(place);
    RankPhase const phase = rank_state.state.load(std::memory_order_acquire);
    if (!alive_(place) || phase == RankPhase::finalised) return {.what = Doing::nothing};
    if (phase != RankPhase::initialised) return {};
    if (auto const blocked = read_blocked(rank_state)) return {Doing::waits, blocked->changes, blocked->moves};
    if (auto const polling = read_polling(rank_state, now_ns)) return {Doing::polls, polling->changes, polling->moves};
    return {};
}

Still Stillness::change(Clock::time_point now, std::int64_t now_ns) {
    if (now < due_) return {};
    due_ = now + once_a_second;
    seen_.resize(segment_.ranks());
    Still still{1, 0};
    for (unsigned place = 0; place < segment_.ranks(); ++place) {
        Doing const doing = doing_at(place, now_ns);
        Seen& seen = seen_[place];
        if (seen.since == Clock::time_point{} || !(doing == seen.doing)) seen = {doing, now};
        bool const long_so = doing.what == Doing::nothing || now - seen.since >= limit_;
        if (doing.what == Doing::something || !long_so) still.nodes = 0;
        if (doing.what == Doing::polls) ++still.polling;
    }
    if (still.nodes == 0) still.polling = 0;
    Still const change{still.nodes - told_.nodes, still.polling - told_.polling};
    told_ = still;
    return change;
}

}   // namespace tutti::launcher
