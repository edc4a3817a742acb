// SPDX-License-Identifier: BSD-3-Clause
// What a rank of another node has counted, as it travels to mpiexec for --stats.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "launcher/statistics/statistics.hpp"

namespace tutti::launcher {

struct RankCountsCopy {
    int rank = 0;
    RankState rank_state{};   ///< only its counters
    CallStatistics call_statistics{};

    RankCounts counts() const { return {rank, &rank_state, &call_statistics}; }
};

/// `now`: the end of a rank that has not called MPI_Finalize; clocks of other nodes mean nothing there.
std::string packed_counts(RankCounts const& counts, std::uint64_t now);
/// Throws Error when it is not what packed_counts has made.
std::unique_ptr<RankCountsCopy> copy_of_counts(std::string_view bytes);

}   // namespace tutti::launcher
