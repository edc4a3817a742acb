// SPDX-License-Identifier: BSD-3-Clause
// Monitors the ranks of one node. StallDetector detects that no rank has made progress for long: each rank is blocked,
// or polls without progress, or has ended. Where a rank polls, nothing can be proven, because it may do other things
// between its polls. NodeMonitor reports changes of blocked ranks to the deadlock detector and answers its queries;
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

/// The stall state of a node. Nodes send changes of it, whose sum is the stall state of the job: nothing makes progress
/// if `nodes` is the number of nodes that have ranks.
struct StallState {
    int nodes = 0;     ///< 1: no rank of this node makes progress
    int polling = 0;   ///< ranks that poll; 0 unless `nodes` is 1

    bool operator==(StallState const&) const = default;
    StallState& operator+=(StallState const& change) {
        nodes += change.nodes;
        polling += change.polling;
        return *this;
    }
};

class StallDetector {
public:
    using Clock = std::chrono::steady_clock;
    using IsAlive = std::function<bool(unsigned local_rank)>;

    /// `segment` must stay valid as long as this object. `alive`: returns true if the rank at that local rank has
    /// started and may still act. `limit`: a rank counts as still after this time without progress
    /// (TUTTI_POLLING_LIMIT).
    StallDetector(Segment const& segment, IsAlive alive, std::chrono::seconds limit)
        : segment_(segment), alive_(std::move(alive)), limit_(limit) {}

    /// Checks the ranks once a second. Returns the difference from the state at the previous check; zero between
    /// checks. `now_ns`: the same moment on the clock of the ranks.
    StallState check(Clock::time_point now, std::int64_t now_ns);

private:
    /// The state of a rank. A rank makes no progress as long as it is unchanged.
    struct Activity {
        enum { running, blocked, polling, ended } kind = running;
        std::uint64_t changes = 0, progress_count = 0;

        bool operator==(Activity const&) const = default;
    };
    struct Observation {
        Activity activity;
        Clock::time_point since{};
    };

    Activity activity_of(unsigned local_rank, std::int64_t now_ns) const;

    Segment const& segment_;
    IsAlive alive_;
    std::chrono::seconds limit_;
    Clock::time_point due_{};
    std::vector<Observation> observations_;   // by local rank
    StallState reported_;
};

// Observation of one node for the deadlock detector of the job.

/// The present state of a rank.
struct RankUpdate {
    int rank = -1;               ///< in MPI_COMM_WORLD
    std::uint64_t changes = 0;   ///< Blocked::changes; 0 if the rank is not blocked
    RankWait wait;
};

/// Asks whether these ranks still wait as they have published, without progress.
struct WaitQuery {
    struct Suspect {
        int rank = -1;
        std::uint64_t changes = 0;
    };
    std::uint64_t number = 0;
    std::vector<Suspect> suspects;   ///< of all nodes, sorted by rank
};

/// The answer of one node about its suspects, sent when each of them has polled everything that may have arrived, or
/// when one of them has changed.
struct WaitReply {
    std::uint64_t number = 0;   ///< number of the query
    bool unchanged = false;
    std::uint64_t progress_count = 0;       ///< sum of Blocked::progress_count over the suspects
    std::uint64_t sent = 0, received = 0;   ///< sums of NetworkBytes over the suspects
};

struct NodeUpdate {
    std::vector<RankUpdate> ranks;
    std::optional<WaitReply> reply{};
    StallState stall{};   ///< change of the node's stall state

    bool empty() const { return ranks.empty() && !reply && stall == StallState{}; }
};

class NodeMonitor {
public:
    using Clock = std::chrono::steady_clock;
    using IsAlive = std::function<bool(unsigned local_rank)>;

    /// `segment` must stay valid as long as this object. `alive`: returns true if the rank at that local rank, or a
    /// message that it has sent, may still act. Ranks that have completed MPI_Finalize or called MPI_Abort are never
    /// considered alive.
    NodeMonitor(Segment const& segment, IsAlive alive);

    /// Returns what has changed since the last call; empty before due(), and as long as no rank is blocked for long.
    NodeUpdate collect_update(Clock::time_point now);
    /// Asks the suspects of this node; the reply is part of a later update. A new query replaces an unanswered one.
    void start_query(WaitQuery const& query);
    /// Returns when collect_update() must be called next.
    Clock::time_point due() const { return due_; }

private:
    struct QueriedRank {
        unsigned local_rank;
        std::uint64_t changes, progress_count;
    };

    RankUpdate check_rank(unsigned local_rank, RankUpdate const& reported) const;
    std::optional<WaitReply> make_reply() const;

    Segment const& segment_;
    BellRinger ringer_;
    IsAlive alive_;
    Clock::time_point due_ = Clock::now(), next_check_ = due_;   // next_check_: the next check of all ranks
    std::vector<std::uint64_t> last_changes_;                    // by local rank: Blocked::changes at the last check
    std::vector<RankUpdate> reported_;                           // by local rank: the last state reported
    std::optional<std::uint64_t> query_number_;                  // not answered yet
    std::uint64_t segment_query_number_ = 0;   // number of the query in this node's segment (SegmentHeader::queries)
    std::vector<QueriedRank> queried_;
};

}   // namespace tutti::launcher
