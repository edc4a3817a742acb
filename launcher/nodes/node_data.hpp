// SPDX-License-Identifier: BSD-3-Clause
// Counters of ranks on other nodes, as sent to mpiexec for --stats, and the map of the job.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/nodes/messages.hpp"
#include "launcher/report/statistics.hpp"

namespace tutti::launcher {

/// A copy of the counters of a rank on another node.
struct RemoteRankCounts {
    int rank = 0;
    RankState rank_state{};   ///< only its counters are set
    CallStatistics call_statistics{};

    /// The result refers to this object.
    RankCounts counts() const { return {rank, &rank_state, &call_statistics}; }
};

/// Returns the body of a frame `counts`. `now` (of now_ns()) is used as the end of a rank that has called MPI_Init but
/// not MPI_Finalize: the receiver cannot use its own time, because the clocks of nodes are not comparable.
std::string packed_counts(RankCounts const& counts, std::uint64_t now);
/// Throws Error if `bytes` was not made by packed_counts.
std::unique_ptr<RemoteRankCounts> unpacked_counts(std::string_view bytes);

// The map of the job as one node sees it, from the facts that all nodes have sent.

/// Returns for example "node h2" or "nodes h2, h3 and 5 more". `nodes`: indices in the allocation.
std::string node_names(Allocation const& allocation, std::vector<int> const& nodes);

/// `here`: the index of this node in the allocation. Throws Error if `order` does not fit the allocation.
ClusterInfo make_cluster_info(Allocation const& allocation, int here, StartOrder const& order);

}   // namespace tutti::launcher
