// SPDX-License-Identifier: BSD-3-Clause
// The decisions of one wait, and their constants.
#include "runtime/wait/spin_policy.hpp"

namespace tutti {
namespace {

// Polling time between two yields. A yield costs 0.4 µs, a sleep and a wake-up 5 to 50 µs.
constexpr std::int64_t poll_ns = 25'000, poll_on_shared_core_ns = 3'000;
constexpr int most_yields_on_shared_core = 4, most_yields_where_ranks_share = 32, most_useless_yields = 4;
// Polling time on an idle core: a rank that was just woken on another core needs that long to answer.
constexpr std::int64_t longest_on_idle_core_ns = 50'000, poll_on_idle_core_ns = 3'000;

}   // namespace

SpinPolicy::Next SpinPolicy::next(std::int64_t now, Core core) {
    bool const contended = core.contended && heeds_core_;
    if (polls_on(now - polls_since_, contended, core.has_neighbours)) return Next::poll;
    if (may_yield(now, contended, core.has_neighbours)) return Next::yield;
    end_long_poll(false);   // also one that ends by its number of yields
    return Next::sleep;
}

bool SpinPolicy::polls_on(std::int64_t polled_for, bool contended, bool has_neighbours) {
    if (policy_ == WaitPolicy::shared)
        return useless_ != 0 && (has_neighbours || polls_long_) && polled_for < poll_on_idle_core_ns;
    if ((!contended && !has_neighbours) || polled_for < poll_on_shared_core_ns) return polled_for < poll_ns;
    return polls_long(polled_for < poll_ns);
}

/// Returns true if the wait continues a long poll; decides once between two arrivals whether to try one.
/// `on_time`: the time of a long poll is not over yet.
bool SpinPolicy::polls_long(bool on_time) {
    if (!std::exchange(tried_long_poll_, true)) polls_long_ = long_polls_.try_one();
    if (polls_long_ && on_time) return true;
    end_long_poll(false);
    return false;
}

bool SpinPolicy::may_yield(std::int64_t now, bool contended, bool has_neighbours) {
    if (sleep_after_ns_ == 0) return true;
    if (now - since_ > sleep_after_ns_) return false;
    if (policy_ == WaitPolicy::shared) {
        if (yields_ >= most_yields_where_ranks_share) return false;
        if (has_neighbours ? useless_ == 0 : !contended && useless_ < most_useless_yields) return true;
        // A useless yield means that the core is idle, or that another scheduling group waits for it.
        bool const on_time = now - since_ < longest_on_idle_core_ns;
        return has_neighbours ? on_time : polls_long(on_time);
    }
    return !contended || (useless_ == 0 && yields_ < most_yields_on_shared_core);
}

void SpinPolicy::note_yield(bool useless, std::int64_t now) {
    useless_ = useless ? useless_ + 1 : 0;
    ++yields_;
    polls_since_ = now;
}

}   // namespace tutti
