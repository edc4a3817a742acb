// SPDX-License-Identifier: BSD-3-Clause
// Looks at the ranks of one node for whoever looks for deadlocks in the whole job: tells what has changed about those
// that are blocked, and asks them whether it is still so. proof.md has the argument.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "launcher/diagnosis/deadlock.hpp"
#include "launcher/diagnosis/stillness.hpp"
#include "runtime/memory/segment.hpp"
#include "runtime/wait/bell.hpp"

namespace tutti::launcher {

/// What a rank does now.
struct RankNews {
    int rank = -1;               ///< of the world
    std::uint64_t changes = 0;   ///< of its block (Blocked::changes); 0 if it is not blocked
    RankWait wait;
};

/// Do these still wait as they have shown, with nothing moving?
struct Question {
    struct Suspect {
        int rank = -1;
        std::uint64_t changes = 0;
    };
    std::uint64_t number = 0;
    std::vector<Suspect> suspects;   ///< of all nodes, by rank
};

/// Of one node, about its suspects, when each has looked at everything that may have come, or one has changed.
struct Answer {
    std::uint64_t number = 0;   ///< of the question
    bool unchanged = false;
    std::uint64_t moves = 0;                ///< Blocked::moves of all of them together
    std::uint64_t sent = 0, received = 0;   ///< NetworkBytes of all of them together
};

struct NodeNews {
    std::vector<RankNews> ranks;
    std::optional<Answer> answer{};
    Still still{};   ///< how that has changed

    bool empty() const { return ranks.empty() && !answer && still == Still{}; }
};

class NodeWatch {
public:
    using Clock = std::chrono::steady_clock;
    using IsAlive = std::function<bool(unsigned place)>;

    /// `segment` outlives it. `alive`: may the rank at that place, or what it has sent, still act? One that has called
    /// MPI_Finalize to the end never may.
    NodeWatch(Segment const& segment, IsAlive alive);

    /// What has changed since it was called last, when it is time to look: nothing while nobody is blocked for long.
    NodeNews news(Clock::time_point now);
    /// Asks the suspects that are here; the answer comes with the news. A new question makes one forget the last.
    void ask(Question const& question);
    /// When it is time again.
    Clock::time_point due() const { return due_; }

private:
    struct Asked {
        unsigned place;
        std::uint64_t changes, moves;
    };

    RankNews look_at(unsigned place, RankNews const& told) const;
    std::optional<Answer> answer() const;

    Segment const& segment_;
    BellRinger ringer_;
    IsAlive alive_;
    Clock::time_point due_ = Clock::now(), look_ = due_;   // look_: at all ranks
    std::vector<std::uint64_t> seen_;                      // by place: Blocked::changes at the last look
    std::vector<RankNews> told_;                           // by place
    std::optional<std::uint64_t> question_;                // not yet answered
    std::uint64_t asked_as_ = 0;                           // its number among those of this node's segment
    std::vector<Asked> asked_;
};

}   // namespace tutti::launcher
