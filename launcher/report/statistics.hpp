// SPDX-License-Identifier: BSD-3-Clause
// The tables of --stats, from the counters of the ranks. Each table is followed by the meaning of its columns.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "runtime/memory/segment.hpp"

namespace tutti::launcher {

/// The counters of one rank, in the segment or in a copy from another node. The pointers are borrowed.
struct RankCounts {
    int rank;   ///< in MPI_COMM_WORLD
    RankState const* rank_state;
    CallStatistics const* call_statistics;
};
using AllRankCounts = std::vector<RankCounts>;

/// Returns the counters of this node's ranks, except those that use another MPI library.
AllRankCounts counts_of(Segment const& segment);

/// Bytes moved by each access path: one row per rank, and one for all ranks.
std::string access_path_table(AllRankCounts const& counts);
/// Bytes moved by collectives, between which ranks, and the waiting times: one row per rank, and one for all.
/// `now` is the end time of ranks that have not called MPI_Finalize.
std::string traffic_table(AllRankCounts const& counts, std::uint64_t now);
/// The ways in which each rank waited, and the time that it lost to other programs: one row per rank, and one for all.
std::string waiting_table(AllRankCounts const& counts);
/// The time in the phases of hierarchical collectives: one row per rank, and one for all; empty if there was none.
std::string phase_table(AllRankCounts const& counts);
/// The NUMA nodes of the ranks' memory, according to the kernel; a single line if there is only one to choose.
std::string memory_table(AllRankCounts const& counts);
/// The collectives of all ranks: one row per communicator, collective and algorithm, by decreasing time.
std::string collectives_table(AllRankCounts const& counts, std::uint64_t now);
/// The one-sided calls: one row per window, operation and access path, by decreasing time; empty if there were none.
std::string windows_table(AllRankCounts const& counts, std::uint64_t now);

/// Returns the rows of these two tables as objects.
nlohmann::ordered_json collectives_json(AllRankCounts const& counts, std::uint64_t now);
nlohmann::ordered_json windows_json(AllRankCounts const& counts, std::uint64_t now);

/// All of these tables.
std::string statistics(AllRankCounts const& counts);

/// All of these tables as one object of JSON, with a list of rows for each table and no row for all ranks. Names of
/// bytes end in _bytes, those of times, in nanoseconds, in _ns.
std::string statistics_json(AllRankCounts const& counts);
inline constexpr std::string_view statistics_head = "{\"program\": \"mpiexec --stats=json\",";   ///< how that begins

/// Returns the nanoseconds from MPI_Init to MPI_Finalize, or to `now` before that; 0: MPI_Init was never called.
std::uint64_t run_time(Times const& times, std::uint64_t now);

// The message about MPI objects that were not freed, with which mpiexec ends a job on a terminal.

/// Numbers of MPI objects not freed by ranks that have called MPI_Finalize, by NotFreed::Kind. Both are empty if
/// there is no such rank.
struct NotFreedCounts {
    std::vector<std::uint64_t> most, least;   ///< maximum and minimum over these ranks

    /// Merges the counts of other ranks.
    void add(NotFreedCounts const& others);
};

/// Returns the counts of this node's ranks.
NotFreedCounts not_freed_on(Segment const& segment);

/// Returns "3 communicators, 1 datatype never freed; --check shows where". The numbers are per rank; if ranks differ,
/// they are the maximum of each kind ("up to ... per rank"). Empty if all are 0.
std::string not_freed_message(NotFreedCounts const& counts);

}   // namespace tutti::launcher
