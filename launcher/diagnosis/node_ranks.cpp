// SPDX-License-Identifier: BSD-3-Clause
// Reads diagnostics and waits while the ranks may be writing them: a diagnostic belongs to the launcher as long as its
// kind is set, and waits are copied consistently by blocked_ranks.cpp.
#include "launcher/diagnosis/node_ranks.hpp"

#include <algorithm>
#include <utility>

#include "launcher/diagnosis/blocked_ranks.hpp"
#include "runtime/base/clock.hpp"

namespace tutti::launcher {

NodeRanks::NodeRanks(Segment const& segment, ProcessOf process_of)
    : segment_(segment), process_of_(std::move(process_of)) {
    for (unsigned local_rank = 0; local_rank < segment.ranks(); ++local_rank)
        world_ranks_.push_back(state(local_rank).world_rank);
}

std::optional<unsigned> NodeRanks::local_rank_of(int rank) const {
    auto const found = std::ranges::find(world_ranks_, rank);
    if (found == world_ranks_.end()) return {};
    return static_cast<unsigned>(found - world_ranks_.begin());
}

RankState const* NodeRanks::state_of(int rank) const {
    auto const local_rank = local_rank_of(rank);
    return local_rank ? &state(*local_rank) : nullptr;
}

SourcePosition NodeRanks::position_of(LocatedCall const& call) const {
    auto const local_rank = local_rank_of(call.rank);
    return local_rank ? recorded_position(state(*local_rank), process_of_(*local_rank), call, &lines_)
                      : SourcePosition{};
}

std::optional<BlockedRank> NodeRanks::waiting_rank(unsigned local_rank, bool include_polling,
                                                   Filter const& filter) const {
    auto blocked = read_blocked(state(local_rank));
    if (!blocked && include_polling) blocked = read_polling(state(local_rank), now_ns());
    if (!blocked) return {};
    blocked->rank = world_ranks_[local_rank];
    if (filter && !filter(*blocked)) return {};
    locate(*blocked, process_of_(local_rank), &lines_);
    return blocked;
}

std::vector<BlockedRank> NodeRanks::waiting_ranks(bool include_polling, Filter const& filter) const {
    std::vector<BlockedRank> ranks;
    for (unsigned local_rank = 0; local_rank < world_ranks_.size(); ++local_rank)
        if (auto one = waiting_rank(local_rank, include_polling, filter)) ranks.push_back(*std::move(one));
    return ranks;
}

std::vector<Report> NodeRanks::take_diagnostics(Clock::time_point now) {
    auto const find_position = [this](LocatedCall const& call) { return position_of(call); };
    std::vector<Report> reports;
    for (unsigned local_rank = 0; local_rank < world_ranks_.size(); ++local_rank) {
        Diagnostic& diagnostic = state(local_rank).diagnostic;
        auto kind = diagnostic.kind.load(std::memory_order_acquire);
        if (kind == Diagnostic::Kind::warning) {
            Report report = make_report(diagnostic, find_position);
            // The rank withdraws its warning after waiting too long.
            if (diagnostic.kind.compare_exchange_strong(kind, Diagnostic::Kind::none, std::memory_order_acq_rel))
                reports.push_back(std::move(report));
        } else if (kind == Diagnostic::Kind::error && !is_error_taken_) {
            bool const complete = has_all_positions(diagnostic, [this](int rank) { return state_of(rank); });
            if (!error_delay_.is_over(complete, now)) continue;
            is_error_taken_ = true;
            reports.push_back(make_report(diagnostic, find_position));
            break;
        }
    }
    return reports;
}

}   // namespace tutti::launcher
