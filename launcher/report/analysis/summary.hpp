// SPDX-License-Identifier: BSD-3-Clause
// The sums that a report shows: where the time went, who waited for whom, who talked to whom, what collectives did.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "launcher/report/analysis/timeline.hpp"

namespace tutti::launcher {

/// Times are nanoseconds, of all ranks together unless said otherwise. What ranks waited is the same sum over `ranks`,
/// `by_call`, `by_line`, `waits` and `by_cause`.
struct RankSum {
    int rank = 0;
    std::int64_t total = 0, in_mpi = 0, waited = 0;   ///< of this rank
    std::uint64_t calls = 0;
};
struct CallSum {
    int name = 0, place = -1;   ///< place −1: all places
    std::uint64_t calls = 0;
    std::int64_t time = 0, waited = 0, longest = 0;
};
struct WaitSum {
    WaitCause cause{};
    int name = 0, place = 0, culprit_place = 0;   ///< where was waited, and where somebody was late
    std::uint64_t calls = 0;
    std::int64_t time = 0;
    std::vector<int> waiting;               ///< ranks
    std::map<int, std::int64_t> culprits;   ///< rank → time that it has caused
};
struct PairSum {
    int from = 0, to = 0;
    std::uint64_t messages = 0;
    std::int64_t bytes = 0;
};
struct CollectiveSum {
    int algorithm = 0, comm = 0;
    std::uint64_t calls = 0;
    std::int64_t bytes = 0;              ///< the largest of any member, summed over calls
    std::int64_t time = 0, waited = 0;   ///< in calls of it, for members that came last
    std::map<int, std::uint64_t> last;   ///< rank → how often it came last
};

struct Summary {
    std::vector<RankSum> ranks;
    std::vector<CallSum> by_call, by_line;   ///< the longest first, as all that follow
    std::vector<WaitSum> waits;
    std::map<WaitCause, std::int64_t> by_cause;
    std::vector<PairSum> pairs;
    std::vector<CollectiveSum> collectives;
    std::uint64_t calls = 0, messages = 0, unmatched = 0;   ///< messages of which one end is not known
};

/// Of a timeline whose waits are explained.
Summary summary_of(Timeline const& timeline);

}   // namespace tutti::launcher
