// SPDX-License-Identifier: BSD-3-Clause
// The tables of --stats, from what the ranks have counted; each tells below what its columns mean.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/memory/segment.hpp"

namespace tutti::launcher {

/// Where what one rank has counted lies: in the segment, or in a copy from another node.
struct RankCounts {
    int rank;   ///< in the world
    RankState const* rank_state;
    CallStatistics const* call_statistics;
};
using AllRankCounts = std::vector<RankCounts>;

/// Those of the ranks of this node.
AllRankCounts counts_of(Segment const& segment);

/// Which way the data went, a line for each rank and one for all.
std::string ways_table(AllRankCounts const& counts);
/// What the collectives moved and between whom, and how long the ranks waited; likewise. `now` is the end of the ranks
/// that have not called MPI_Finalize.
std::string traffic_table(AllRankCounts const& counts, std::uint64_t now);
/// How each rank waited, and what other programs cost it; likewise.
std::string waiting_table(AllRankCounts const& counts);
/// Where the ranks' memory lies, as the kernel saw it; one line where there is nothing to choose.
std::string memory_table(AllRankCounts const& counts);
/// The collectives of all ranks, a line for each communicator, collective and algorithm, the longest first.
std::string collectives_table(AllRankCounts const& counts, std::uint64_t now);
/// The calls about windows, a line for each window, operation and way, the longest first; empty when there were none.
std::string windows_table(AllRankCounts const& counts, std::uint64_t now);

/// All of them.
std::string statistics(AllRankCounts const& counts);

/// How long a rank was in MPI, in nanoseconds; 0: it never was.
std::uint64_t run_time(Times const& times, std::uint64_t now);

}   // namespace tutti::launcher
