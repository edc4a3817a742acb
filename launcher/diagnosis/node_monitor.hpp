// SPDX-License-Identifier: BSD-3-Clause
// Monitors the ranks of one node. Stillness detects that no rank has made progress for long: each rank is blocked, or
// polls without progress, or has ended. Where a rank polls, nothing can be proven, because it may do other things
// between its polls. NodeWatch reports changes of blocked ranks to the deadlock detector and answers its questions;
// launcher/diagnosis/proof.md has the argument.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "launcher/diagnosis/deadlock.hpp"
#include "runtime/memory/segment.hpp"
#include "runtime/wait/bell.hpp"

namespace tutti::launcher {

/// Stillness of a node. Nodes send changes of it, whose sum is the stillness of the job: nothing makes progress if
/// `nodes` is the number of nodes that have ranks.
struct Still {
    int nodes = 0;     ///< 1: no rank of this node makes progress
    int polling = 0;   ///< ranks that poll; 0 unless `nodes` is 1

    bool operator==(Still const&) const = default;
};

class Stillness {
public:
    using Clock = std::chrono::steady_clock;
    using IsAlive = std::function<bool(unsigned place)>;

    /// `segment` must outlive this object. `alive`: returns true if the rank at that local rank has started and may
    /// still act. `limit`: a rank counts as still after this time without progress (TUTTI_POLLING_LIMIT).
    Stillness(Segment const& segment, IsAlive alive, std::chrono::seconds limit)
        : segment_(segment), alive_(std::move(alive)), limit_(limit) {}

    /// Checks the ranks once a second. Returns the difference from the state at the previous check; zero between
    /// checks. `now_ns`: the same moment on the clock of the ranks.
    Still change(Clock::time_point now, std::int64_t now_ns);

private:
    /// The state of a rank. A rank makes no progress as long as it is unchanged.
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
    std::vector<Seen> seen_;   // by local rank
    Still told_;
};

// Observation of one node for the deadlock detector of the job.

/// The present state of a rank.
struct RankNews {
    int rank = -1;               ///< in MPI_COMM_WORLD
    std::uint64_t changes = 0;   ///< Blocked::changes; 0 if the rank is not blocked
    RankWait wait;
};

/// Asks whether these ranks still wait as they have published, without progress.
struct Question {
    struct Suspect {
        int rank = -1;
        std::uint64_t changes = 0;
    };
    std::uint64_t number = 0;
    std::vector<Suspect> suspects;   ///< of all nodes, sorted by rank
};

/// The answer of one node about its suspects, sent when each of them has polled everything that may have arrived, or
/// when one of them has changed.
struct Answer {
    std::uint64_t number = 0;   ///< number of the question
    bool unchanged = false;
    std::uint64_t moves = 0;                ///< sum of Blocked::moves over the suspects
    std::uint64_t sent = 0, received = 0;   ///< sums of NetworkBytes over the suspects
};

struct NodeNews {
    std::vector<RankNews> ranks;
    std::optional<Answer> answer{};
    Still still{};   ///< change of the node's stillness

    bool empty() const { return ranks.empty() && !answer && still == Still{}; }
};

class NodeWatch {
public:
    using Clock = std::chrono::steady_clock;
    using IsAlive = std::function<bool(unsigned place)>;

    /// `segment` must outlive this object. `alive`: returns true if the rank at that local rank, or a message that it
    /// has sent, may still act. Ranks that have completed MPI_Finalize or called MPI_Abort are never considered alive.
    NodeWatch(Segment const& segment, IsAlive alive);

    /// Returns what has changed since the last call; empty before due(), and as long as no rank is blocked for long.
    NodeNews news(Clock::time_point now);
    /// Asks the suspects of this node; the answer is part of later news. A new question replaces an unanswered one.
    void ask(Question const& question);
    /// Returns when news() must be called next.
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
    Clock::time_point due_ = Clock::now(), look_ = due_;   // look_: the next check of all ranks
    std::vector<std::uint64_t> seen_;                      // by local rank: Blocked::changes at the last check
    std::vector<RankNews> told_;                           // by local rank: the last state reported
    std::optional<std::uint64_t> question_;                // not answered yet
    std::uint64_t asked_as_ = 0;   // number of the question in this node's segment (SegmentHeader::questions)
    std::vector<Asked> asked_;
};

}   // namespace tutti::launcher
