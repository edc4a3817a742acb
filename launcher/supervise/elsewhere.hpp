// SPDX-License-Identifier: BSD-3-Clause
// The other nodes of a job, as the launcher of one node sees them. mpiexec and the daemons have one each; a job on one
// node has none.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <poll.h>
#include <sys/types.h>

#include "launcher/diagnosis/unblocked_ranks.hpp"
#include "launcher/report/recording/recording.hpp"
#include "launcher/statistics/not_freed.hpp"
#include "launcher/statistics/statistics.hpp"
#include "launcher/supervise/verdict.hpp"
#include "runtime/settings/cluster.hpp"

namespace tutti::launcher {

class Guardian;
class Input;
class Output;
class Signals;
class Supervisor;

/// What a node tells before anything starts.
struct NodeFacts {
    std::string host;                     ///< as gethostname tells
    std::vector<std::string> addresses;   ///< as Cluster::Node has them
    std::vector<std::uint16_t> ports;     ///< of its ranks' listening sockets, by place
    std::string drawing;                  ///< of the machine with its ranks, for --show-hierarchy
};

/// What a node is told then.
struct World {
    Cluster cluster;
    std::string tuning;       ///< the tuning file, for all nodes the same: choices must not differ
    std::string drawings{};   ///< of all nodes, where they are to be shown
};

/// A rank has ended well and never called MPI_Init.
struct Missing {
    int rank = -1;
    int pid = 0;
    std::string host;
};

/// What the launcher of this node has made, for use until `part`.
struct OwnLauncher {
    Guardian& guardian;
    Signals& signals;
    Output& output;
    Input& input;
};

class Elsewhere {
public:
    virtual ~Elsewhere() = default;

    /// This launcher decides about the job.
    virtual bool decides() const = 0;
    /// By rank of the world.
    virtual std::vector<int> const& node_of() const = 0;
    /// The nodes whose ranks read the standard input of this process.
    virtual std::vector<int> readers() const = 0;
    /// Starts the daemons that this launcher has to start.
    virtual void begin(OwnLauncher own) = 0;
    /// Waits until every node has told its facts. Throws Complaint. Only mpiexec's `tuning` counts.
    virtual World meet(NodeFacts const& own, std::string const& tuning) = 0;

    // Called by the supervisor's loop, each time round.
    virtual void watch(std::vector<pollfd>& set) const = 0;
    virtual void serve(Supervisor& supervisor) = 0;
    virtual std::chrono::milliseconds patience() const = 0;
    /// Ranks of other nodes may still run.
    virtual bool running() const = 0;
    /// A child of this launcher that is no rank has ended; was it one that started a daemon?
    virtual bool buried(pid_t pid, int status) = 0;

    /// What happened here. True: the decision is another's.
    virtual bool report(Verdict const& verdict) = 0;
    virtual bool report(NodeNews const& news) = 0;
    virtual bool report(Report const& mistake) = 0;   ///< or a warning
    virtual void report(Missing const& missing) = 0;

    // What was decided here.
    virtual void pass_on(int signal) = 0;
    virtual void end() = 0;
    /// Asks a node about suspects, which answers by Supervisor::hear; false: that is this one.
    virtual bool ask(int node, Question const& question) = 0;
    /// What is known of ranks of other nodes.
    virtual RanksSeen see(Inquiry const& inquiry) = 0;

    /// All ranks of this node have ended. Returns when nothing is left to do for others. `segment` is null where there
    /// were no ranks.
    virtual void finish(Supervisor& supervisor, Segment const* segment) = 0;
    /// The launcher of this node ends, however: the daemons that it has started are ended, too.
    virtual void part() = 0;
    /// After `finish`, for --stats: the counts of all ranks in order; none where they are not told.
    virtual AllRankCounts with_others(AllRankCounts own) = 0;
    /// Likewise: what ranks have not freed.
    virtual NotFreedCounts with_others(NotFreedCounts own) = 0;
    /// Likewise, for --report: what all nodes have recorded.
    virtual Recording with_others(Recording own) = 0;
};

}   // namespace tutti::launcher
