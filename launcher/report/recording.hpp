// SPDX-License-Identifier: BSD-3-Clause
// The traces of a job's ranks as plain data that can be sent between nodes. They are read from the node's segment
// after the ranks have ended.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/memory/segment.hpp"
#include "topo/machine.hpp"

namespace tutti::launcher {

/// Source lines of call sites in processes that have ended, found through their memory maps. Each place in a file is
/// looked up only once, however many ranks run it.
class CallSites {
public:
    /// Returns the source line of each address in a process with these lines of /proc/PID/maps, sorted by address; an
    /// empty text if it is unknown.
    std::vector<std::pair<std::uint64_t, std::string>> source_lines_of(std::string_view maps,
                                                                       std::vector<std::uint64_t> addresses);

private:
    std::map<std::pair<std::string, std::uint64_t>, std::string> known_;   ///< by file and offset
};

/// A communicator, as one of its ranks has recorded it.
struct RecordedComm {
    std::uint64_t context = 0;   ///< context id
    std::string name;
    std::vector<int> members;   ///< world ranks; fewer than `size` if there were too many to record
    int size = 0;
    int rank = -1;   ///< rank in this communicator of the rank that recorded it
};

/// A call that a rank had not left when it ended.
struct UnfinishedCall {
    std::int64_t begin = 0;
    std::uint64_t site = 0;
    int text = 0, thread = 0;
    std::string description;   ///< the wait that the rank published, with arguments; empty: none
};

/// The trace of one rank. Times are nanoseconds; after ClockOffsets::adjust, those of all ranks are on one clock,
/// within `clock_error`.
struct RankRecording {
    int rank = 0, node = 0;
    std::string host;
    std::int64_t started = 0, ended = 0;   ///< MPI_Init, and the end of MPI_Finalize or of the job
    std::int64_t complete_from = 0;        ///< earlier events were overwritten
    std::uint64_t lost = 0;                ///< number of overwritten events
    std::int64_t run_delay = 0;            ///< time in which the rank was ready to run but had no core; 0: unknown
    std::int64_t clock_error = 0;     ///< bound of the error of the times on the clock of mpiexec's node; 0: same node
    std::vector<TraceEvent> events;   ///< in the order of recording
    std::vector<std::string> texts;
    std::vector<RecordedComm> comms;
    std::vector<std::pair<std::uint64_t, std::string>>
        source_lines;   ///< source lines of call sites, sorted by address
    std::vector<UnfinishedCall> unfinished;
};

/// A node and the placement of its ranks.
struct RecordedNode {
    int node = 0;
    std::string host;
    topo::Machine machine;
    topo::Placement placement;
    std::vector<int> ranks;   ///< world ranks, by local rank
    int cores = 0;            ///< number of ranks that can run at the same time; 0: unknown

    /// True if the node is oversubscribed: it has more ranks than can run at the same time.
    bool is_oversubscribed() const { return cores > 0 && ranks.size() > static_cast<std::size_t>(cores); }
};

struct Recording {
    std::vector<RankRecording> ranks;   ///< by world rank
    std::vector<RecordedNode> nodes;
};

/// Reads the traces of this node's ranks, which have ended by `now` and have rings of `room` events each. Reads
/// nothing outside a trace, whatever a faulty rank may have written into it. Looks up source lines, which takes a
/// while.
std::vector<RankRecording> read_traces(Segment const& segment, std::uint64_t room, int node, std::string const& host,
                                       std::int64_t now);

/// Return the bytes in which a recording or a node is sent to mpiexec.
std::string packed_recording(RankRecording const& recording);
std::string packed_node(RecordedNode const& node);
/// Parse these forms. Throw Error if the bytes are malformed.
RankRecording recording_in(std::string_view bytes);
RecordedNode node_in(std::string_view bytes);

/// A query of a node's clock, and its answer.
struct ClockAnswer {
    std::int64_t query_time = 0;    ///< time of the query, by our clock
    std::int64_t remote_time = 0;   ///< time of the answer, by the node's clock; 0: this is a query
};

template <class A>
void members(A& a, ClockAnswer& c) {
    a(c.query_time, c.remote_time);
}

/// Estimates clock offsets by Cristian's algorithm (Probabilistic clock synchronization, Distributed Computing 3,
/// 1989): the node answered between the query and the receipt of the answer, so the error is at most half the round
/// trip. The answer with the shortest round trip counts.
class ClockOffsets {
public:
    static constexpr int required_answers = 10;

    /// Processes an answer that arrived at `now`. Returns true if the caller should send another query.
    bool add_answer(int node, ClockAnswer const& answer, std::int64_t now);
    /// Converts the times of a recording to our clock; does nothing if its node's offset is unknown.
    void adjust(RankRecording& recording) const;

private:
    struct Offset {
        std::int64_t offset = 0, error = 0;
        int answers = 0;
    };
    std::map<int, Offset> offsets_;   ///< by node
};

}   // namespace tutti::launcher
