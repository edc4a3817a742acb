// SPDX-License-Identifier: BSD-3-Clause
// The other nodes of a job, as the launcher of one node sees them. mpiexec and each daemon have one such object; jobs
// on one node have none.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <poll.h>
#include <sys/types.h>

#include "launcher/diagnosis/unblocked_ranks.hpp"
#include "launcher/report/recording.hpp"
#include "launcher/report/statistics.hpp"
#include "launcher/serve/rank_server.hpp"
#include "launcher/supervise/rank_exit.hpp"
#include "runtime/settings/cluster.hpp"

namespace tutti::launcher {

class Guardian;
class Input;
class Output;
class Signals;
class Supervisor;

/// Facts about a node, which it sends before any rank starts.
struct NodeFacts {
    std::string host;                     ///< from gethostname
    std::vector<std::string> addresses;   ///< as in Cluster::Node
    std::vector<std::uint16_t> ports;     ///< ports on which its ranks listen, by local rank
    std::string drawing;                  ///< drawing of the machine with its ranks, for --show-hierarchy
    std::string mpi_library;              ///< with which its programs are linked (Programs::mpi_library)
    ServiceOffer offer;                   ///< to its ranks
};

/// Data about the whole job, which each node receives when all have sent their facts.
struct ClusterInfo {
    Cluster cluster;
    /// Text of the tuning file, the same on all nodes, because all ranks must make the same choices.
    std::string tuning;
    std::string job_name{};   ///< ServedJob::name
    ServiceOffer offer{};     ///< of all nodes to their ranks
    std::string drawings{};   ///< drawings of all nodes, if they are to be shown
};

/// A rank that has ended successfully without calling MPI_Init.
struct NeverInitialized {
    int rank = -1;
    int pid = 0;
    std::string host;
};

/// Objects of this node's launcher. Must remain valid until `shut_down_daemons`.
struct LauncherObjects {
    Guardian& guardian;
    Signals& signals;
    Output& output;
    Input& input;
};

/// Called only by the thread of the launcher's loop.
class OtherNodes {
public:
    virtual ~OtherNodes() = default;

    /// Returns true if this launcher makes the decisions about the job.
    virtual bool is_root() const = 0;
    /// Returns the node of each rank of the world.
    virtual std::vector<int> const& node_of() const = 0;
    /// Returns the other nodes whose ranks read the standard input of this process.
    virtual std::vector<int> input_nodes() const = 0;
    /// Starts the daemons that this launcher is responsible for.
    virtual void start_daemons(LauncherObjects objects) = 0;
    /// Waits until every node has sent its facts. Throws LaunchError. Only the `tuning` of mpiexec is used.
    virtual ClusterInfo exchange_facts(NodeFacts const& own, std::string const& tuning) = 0;

    // Called in each iteration of the supervisor's loop: `watch` adds the descriptors to be polled, `serve` reads and
    // writes, and `poll_timeout` returns the time until `serve` must be called even if no descriptor is ready.
    virtual void watch(std::vector<pollfd>& set) const = 0;
    virtual void serve(Supervisor& supervisor) = 0;
    virtual std::chrono::milliseconds poll_timeout() const = 0;
    /// Returns true if ranks of other nodes may still run.
    virtual bool running() const = 0;
    /// Called when a child of this launcher that is not a rank has ended. Returns true if the child had started a
    /// daemon.
    virtual bool on_child_exit(pid_t pid, int status) = 0;

    /// Report an event on this node. Return true if another launcher decides about it; the event has been sent to it.
    virtual bool report(RankExit const& exit) = 0;
    virtual bool report(NodeUpdate const& update) = 0;
    virtual bool report(Report const& error) = 0;            ///< an error of the program, or a warning
    virtual void report(NeverInitialized const& rank) = 0;   ///< to the launchers of all nodes, by way of mpiexec

    /// Contributes this node's part to an exchange. Returns the result if it is complete; otherwise the result arrives
    /// by Supervisor::complete.
    virtual std::optional<Exchanged> exchange(Contribution const& part) = 0;

    // Decisions of this launcher. They have no effect in a launcher that does not decide.
    virtual void forward_signal(int signal) = 0;   ///< delivers a signal of the user to the ranks of the other nodes
    virtual void end_ranks() = 0;                  ///< ends the ranks of the other nodes
    /// Sends a node a query about suspects; the node answers by Supervisor::add. Returns false if `node` is this
    /// one.
    virtual bool query_waits(int node, WaitQuery const& query) = 0;
    /// Returns what is known of ranks on other nodes.
    virtual RankStates query_ranks(RankQuery const& query) = 0;

    /// Called when all ranks of this node have ended. Returns when there is nothing left to do for other nodes.
    /// `segment` is null if there were no ranks.
    virtual void finish(Supervisor& supervisor, Segment const* segment) = 0;
    /// Called when the launcher of this node ends for any reason: ends the daemons that it has started.
    virtual void shut_down_daemons() = 0;
    /// Called after `finish`, for --stats: returns the counts of all ranks in order; empty where they are not reported.
    virtual AllRankCounts with_others(AllRankCounts own) = 0;
    /// Likewise: returns what ranks have not freed.
    virtual NotFreedCounts with_others(NotFreedCounts own) = 0;
    /// Likewise, for --report: returns the recordings of all nodes.
    virtual Recording with_others(Recording own) = 0;
};

}   // namespace tutti::launcher
