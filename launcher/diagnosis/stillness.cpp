// SPDX-License-Identifier: BSD-3-Clause
// Since when each rank of a node has done the same.
#include "launcher/diagnosis/stillness.hpp"

#include "launcher/diagnosis/blocked_ranks.hpp"

namespace tutti::launcher {
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
