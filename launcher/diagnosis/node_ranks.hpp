// SPDX-License-Identifier: BSD-3-Clause
// The ranks of one node as their launcher or the watchdog observes them: what they publish, with positions in the
// program.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <vector>

#include <sys/types.h>

#include "launcher/diagnosis/report.hpp"
#include "runtime/memory/segment.hpp"

namespace tutti::launcher {

/// Used by one thread.
class NodeRanks {
public:
    using Clock = std::chrono::steady_clock;
    using ProcessOf = std::function<pid_t(unsigned local_rank)>;
    using Filter = std::function<bool(BlockedRank const&)>;

    /// Must be created before ranks can write to `segment`, which must stay valid as long as this object. `process_of`:
    /// returns the process of a rank, or 0 if it is not visible from here.
    NodeRanks(Segment const& segment, ProcessOf process_of);

    /// Translates local ranks into ranks of MPI_COMM_WORLD, and back; nothing and null for ranks of other nodes.
    int world_rank(std::size_t local_rank) const { return world_ranks_[local_rank]; }
    std::optional<unsigned> local_rank_of(int rank) const;
    RankState const* state_of(int rank) const;

    /// Returns the position of a call (see recorded_position); an empty one for ranks of other nodes.
    SourcePosition position_of(LocatedCall const& call) const;
    /// Returns the wait of a rank with its position; nothing if the rank does not wait, or if `filter` returns false.
    /// `include_polling`: a rank that polls without progress counts as waiting.
    std::optional<BlockedRank> waiting_rank(unsigned local_rank, bool include_polling, Filter const& filter = {}) const;
    /// Returns the waits of all ranks.
    std::vector<BlockedRank> waiting_ranks(bool include_polling, Filter const& filter = {}) const;

    /// Returns the warnings that ranks have published since the last call, and, once, the first error. The error is
    /// delayed until the positions of its calls are known (ReportDelay).
    std::vector<Report> take_diagnostics(Clock::time_point now);

    LineCache* line_cache() const { return &lines_; }

private:
    RankState& state(unsigned local_rank) const { return segment_.rank_state(local_rank); }

    Segment const& segment_;
    ProcessOf process_of_;
    std::vector<int> world_ranks_;   // by local rank
    ReportDelay error_delay_;
    bool is_error_taken_ = false;
    mutable LineCache lines_;
};

}   // namespace tutti::launcher
