// SPDX-License-Identifier: BSD-3-Clause
// Finds out whether nothing has moved on a node for long: each rank is blocked, or looks for something in vain, or has
// ended. Where a rank polls nothing can be proven, for it may do other things between its looks.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "runtime/memory/segment.hpp"

namespace tutti::launcher {

/// Of one node; what nodes tell each other are changes of it.
struct Still {
    int nodes = 0;     ///< 1: nothing moves here
    int polling = 0;   ///< ranks that poll; 0 unless nothing moves

    bool operator==(Still const&) const = default;
};

class Stillness {
public:
    using Clock = std::chrono::steady_clock;
    using IsAlive = std::function<bool(unsigned place)>;

    /// `segment` outlives it. `alive`: the rank at that place has started, and may still act. `limit`: nothing counts
    /// as still before it has been so for that long (TUTTI_POLLING_LIMIT).
    Stillness(Segment const& segment, IsAlive alive, std::chrono::seconds limit)
        : segment_(segment), alive_(std::move(alive)), limit_(limit) {}

    /// When it is time to look, once a second: how that differs from what was told before. `now_ns`: the same moment
    /// in the time of the ranks.
    Still change(Clock::time_point now, std::int64_t now_ns);

private:
    /// A rank does the same as long as these do not change.
    struct Doing {
        enum { something, waits, polls, nothing } what = something;
        std::uint64_t changes = 0, moves = 0;

        bool operator==(Doing const&) const = default;
    };
    struct Seen {
        Doing doing;
        Clock::time_point since{};
    };

    Doing doing_at(unsigned place, std::int64_t now_ns) const;

    Segment const& segment_;
    IsAlive alive_;
    std::chrono::seconds limit_;
    Clock::time_point due_{};
    std::vector<Seen> seen_;   // by place
    Still told_;
};

}   // namespace tutti::launcher
