// SPDX-License-Identifier: BSD-3-Clause
// The sums of a report: where the time went, which ranks waited for which, traffic between ranks, and the
// collectives. Times are nanoseconds, summed over all ranks unless stated otherwise. The total waiting time is the same
// over Summary's `ranks`, `by_call`, `by_line`, `waits` and `by_cause`.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/report/recording.hpp"
#include "launcher/report/timeline.hpp"

namespace tutti::launcher {

struct RankSum {
    int rank = 0;
    std::int64_t total = 0, in_mpi = 0, waited = 0;   ///< of this rank
    std::uint64_t calls = 0;
};
/// The calls of one MPI function, or of one function at one source line; `name` and `source_line` are indices in
/// Timeline's lists.
struct CallSum {
    int name = 0, source_line = -1;   ///< source_line −1: all lines
    std::uint64_t calls = 0;
    std::int64_t time = 0, waited = 0, longest = 0;
};
struct WaitSum {
    WaitCause cause{};
    int name = 0, source_line = 0, culprit_line = 0;   ///< where ranks waited, and where the culprits were late
    std::uint64_t calls = 0;
    std::int64_t time = 0;
    std::vector<int> waiting;               ///< ranks
    std::map<int, std::int64_t> culprits;   ///< rank → time that it caused
};
/// The point-to-point messages from one world rank to another.
struct PairSum {
    int from = 0, to = 0;
    std::uint64_t messages = 0;
    std::int64_t bytes = 0;
};
struct CollectiveSum {
    int algorithm = 0, comm = 0;
    std::uint64_t calls = 0;
    std::int64_t bytes = 0;              ///< maximum over the members, summed over the calls
    std::int64_t time = 0, waited = 0;   ///< in these calls; `waited`: for the member that arrived last
    std::map<int, std::uint64_t> last;   ///< rank → how often it arrived last
};

struct Summary {
    std::vector<RankSum> ranks;              ///< by world rank
    std::vector<CallSum> by_call, by_line;   ///< by decreasing time, like `waits` and `collectives`
    std::vector<WaitSum> waits;
    std::map<WaitCause, std::int64_t> by_cause;
    std::vector<PairSum> pairs;   ///< by decreasing bytes
    std::vector<CollectiveSum> collectives;
    std::uint64_t calls = 0, messages = 0, unmatched = 0;   ///< unmatched: messages of which one end is unknown
};

/// Returns the sums of a timeline whose waits are explained (classify_waits).
Summary summary_of(Timeline const& timeline);

// The teams of hierarchical algorithms, computed from the recorded machine and the levels that the ranks have traced.

/// A level of the hierarchy, innermost first: the world ranks below each of its teams.
struct TeamLevel {
    std::string name;
    std::vector<std::vector<int>> teams;
};

/// Returns the levels of a communicator with these members (world ranks); `levels` in the form of
/// Hierarchy::describe. Empty if they are unknown.
std::vector<TeamLevel> teams_of(std::vector<RecordedNode> const& nodes, std::vector<int> const& members,
                                std::string_view levels);

}   // namespace tutti::launcher
