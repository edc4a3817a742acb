// SPDX-License-Identifier: BSD-3-Clause
// What the ranks of a job have traced, as plain data that can travel between nodes: taken out of the node segment when
// the ranks have ended.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "runtime/memory/segment.hpp"
#include "topo/machine/machine.hpp"

namespace tutti::launcher {

struct RecordedComm {
    std::uint64_t context = 0;
    std::string name;
    std::vector<int> members;   ///< of the world; fewer than `size` where there are too many to tell
    int size = 0;
    int rank = -1;   ///< in it, of the rank that has recorded it
};

/// A call in which the rank was when it ended.
struct UnfinishedCall {
    std::int64_t begin = 0;
    std::uint64_t site = 0;
    int text = 0, thread = 0;
    std::string shown;   ///< what the rank has published of its wait, with arguments; empty: nothing
};

/// Of one rank. Times are nanoseconds; those of all ranks are of one clock, as far as it is known (`clock_error`).
struct RankRecording {
    int rank = 0, node = 0;
    std::string host;
    std::int64_t started = 0, ended = 0;   ///< MPI_Init, and the end of MPI_Finalize or of the job
    std::int64_t complete_from = 0;        ///< earlier events were overwritten
    std::uint64_t lost = 0;                ///< events that were
    std::int64_t run_delay = 0;            ///< how long it was ready to run and had no core; 0: not known
    std::int64_t clock_error = 0;          ///< of times against those of mpiexec's node, at most; 0: same node
    std::vector<TraceEvent> events;        ///< as they were written
    std::vector<std::string> texts;
    std::vector<RecordedComm> comms;
    std::vector<std::pair<std::uint64_t, std::string>> places;   ///< words for call sites, sorted
    std::vector<UnfinishedCall> unfinished;
};

/// A node with where its ranks are.
struct RecordedNode {
    int node = 0;
    std::string host;
    topo::Machine machine;
    topo::Placement placement;
    std::vector<int> ranks;   ///< of the world, by place
    int cores = 0;            ///< how many ranks can run at the same time; 0: not known

    bool crowded() const { return cores > 0 && ranks.size() > static_cast<std::size_t>(cores); }
};

struct Recording {
    std::vector<RankRecording> ranks;   ///< by rank of the world
    std::vector<RecordedNode> nodes;
};

/// Of this node's ranks, which have ended by `now`, with a ring of `room` events each. Whatever a rank may have written
/// into its trace by mistake, nothing outside of the trace is read. Looks for source lines, which takes a while.
std::vector<RankRecording> read_traces(Segment const& segment, std::uint64_t room, int node, std::string const& host,
                                       std::int64_t now);

/// "0-3,8" as numbers; nothing from where it is no such text on, or names more than a world may have.
std::vector<int> ranks_in(std::string_view ranges);

}   // namespace tutti::launcher
