// SPDX-License-Identifier: BSD-3-Clause
// How long a report waits to become complete. Ranks show where they are and what they wait for only in a wait that
// lasts (runtime/wait/wait.cpp: 20 ms), and later where cores are scarce; one that computes shows nothing.
#pragma once

#include <chrono>
#include <optional>

namespace tutti::launcher {

class ReportDelay {
public:
    using Clock = std::chrono::steady_clock;

    static constexpr std::chrono::milliseconds longest{500};

    /// True: the report is to be told now, since nothing is missing or it has waited for long enough. The first call
    /// begins the wait.
    bool over(bool complete, Clock::time_point now) {
        if (!until_) until_ = now + longest;
        return complete || now >= *until_;
    }
    /// When the wait is over at the latest.
    Clock::time_point due() const { return until_.value_or(Clock::time_point::max()); }

private:
    std::optional<Clock::time_point> until_;
};

}   // namespace tutti::launcher
