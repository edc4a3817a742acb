// SPDX-License-Identifier: BSD-3-Clause
// The decisions of one wait, and their constants.
#include "runtime/wait/spin_policy.hpp"

namespace tutti {
namespace {

// Polling time between two yields. A yield costs 0.4 µs, a sleep and a wake-up 5 to 50 µs.
constexpr std::int64_t poll_ns = 25'000, poll_on_shared_core_ns = 3'000;
constexpr int max_yields_on_shared_core = 4, max_yields_if_oversubscribed = 32, max_useless_yields = 4;
// Polling time on an idle core: a rank that was just woken on another core needs that long to answer.
constexpr std::int64_t max_on_idle_core_ns = 50'000, poll_on_idle_core_ns = 3'000;

}   // namespace

SpinPolicy::Next SpinPolicy::next(std::int64_t now, Core core) {
    bool const contended = core.contended && adapts_;
    if (keeps_polling(now - polling_since_, contended, core.has_neighbours)) return Next::poll;
    if (may_yield(now, contended, core.has_neighbours)) return Next::yield;
    end_long_poll(false);   // also one that ends by its number of yields
    return Next::sleep;
}

bool SpinPolicy::keeps_polling(std::int64_t polled_for, bool contended, bool has_neighbours) {
    if (policy_ == WaitPolicy::shared)
        return consecutive_useless_ != 0 && (has_neighbours || in_long_poll_) && polled_for < poll_on_idle_core_ns;
    if ((!contended && !has_neighbours) || polled_for < poll_on_shared_core_ns) return polled_for < poll_ns;
    return continues_long_poll(polled_for < poll_ns);
}

/// Returns true if the wait continues a long poll; decides once between two arrivals whether to try one.
/// `on_time`: the time of a long poll is not over yet.
bool SpinPolicy::continues_long_poll(bool on_time) {
    if (!std::exchange(tried_long_poll_, true)) in_long_poll_ = long_polls_.may_try();
    if (in_long_poll_ && on_time) return true;
    end_long_poll(false);
    return false;
}

bool SpinPolicy::may_yield(std::int64_t now, bool contended, bool has_neighbours) {
    if (sleep_after_ns_ == 0) return true;
    if (now - first_clock_ > sleep_after_ns_) return false;
    if (policy_ == WaitPolicy::shared) {
        if (yields_ >= max_yields_if_oversubscribed) return false;
        if (has_neighbours ? consecutive_useless_ == 0 : !contended && consecutive_useless_ < max_useless_yields)
            return true;
        // A useless yield means that the core is idle, or that another scheduling group waits for it.
        bool const on_time = now - first_clock_ < max_on_idle_core_ns;
        return has_neighbours ? on_time : continues_long_poll(on_time);
    }
    return !contended || (consecutive_useless_ == 0 && yields_ < max_yields_on_shared_core);
}

void SpinPolicy::record_yield(bool useless, std::int64_t now) {
    consecutive_useless_ = useless ? consecutive_useless_ + 1 : 0;
    ++yields_;
    polling_since_ = now;
}

}   // namespace tutti
