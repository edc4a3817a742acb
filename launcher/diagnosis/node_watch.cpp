// SPDX-License-Identifier: BSD-3-Clause
// Looking and asking.
#include "launcher/diagnosis/node_watch.hpp"

#include <algorithm>

#include "launcher/diagnosis/blocked_ranks.hpp"
#include "runtime/base/futex.hpp"

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

/// Of any of its threads.
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

/// A block counts once it has been there at two looks: most are over by then, and nobody need hear of them. One that
/// anybody may end is as good as none.
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

/// Each of them looks once more at everything that may have come; who sleeps is woken for it.
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

}   // namespace tutti::launcher
