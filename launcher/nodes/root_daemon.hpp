// SPDX-License-Identifier: BSD-3-Clause
// The other nodes as mpiexec sees them: it starts their daemons, assembles the map of the job, and decides how the job
// ends.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "launcher/nodes/children.hpp"
#include "launcher/nodes/node_data.hpp"
#include "launcher/nodes/remote_streams.hpp"
#include "launcher/report/recording.hpp"
#include "launcher/supervise/other_nodes.hpp"

namespace tutti::launcher {

class RootDaemon : public OtherNodes {
public:
    RootDaemon(Job const& job, Allocation const& allocation);

    bool is_root() const override { return true; }
    std::vector<int> const& node_of() const override { return allocation_.node_of; }
    std::vector<int> input_nodes() const override;
    void start_daemons(LauncherObjects objects) override;
    ClusterInfo exchange_facts(NodeFacts const& own, std::string const& tuning) override;

    void watch(std::vector<pollfd>& set) const override;
    void serve(Supervisor& supervisor) override;
    std::chrono::milliseconds poll_timeout() const override;
    bool running() const override;
    bool on_child_exit(pid_t pid, int status) override { return children_.on_child_exit(pid, status); }

    std::optional<Exchanged> exchange(Contribution const& part) override;
    bool report(RankExit const&) override { return false; }
    bool report(NodeUpdate const&) override { return false; }
    bool report(Report const&) override { return false; }
    void report(NeverInitialized const& rank) override;
    void forward_signal(int signal) override;
    void end_ranks() override;
    bool query_waits(int node, WaitQuery const& query) override;
    RankStates query_ranks(RankQuery const& query) override;
    void finish(Supervisor& supervisor, Segment const* segment) override;
    void shut_down_daemons() override { children_.shut_down(); }
    AllRankCounts with_others(AllRankCounts own) override;
    NotFreedCounts with_others(NotFreedCounts own) override;
    Recording with_others(Recording own) override;

private:
    using Clock = SilenceTimer::Clock;
    struct RemoteNode {
        std::optional<NodeFacts> facts;
        bool done = false;       ///< its ranks have ended; its daemon still answers
        bool lost = false;       ///< it can no longer be reached
        bool answered = false;   ///< it has answered the last RankQuery
    };

    void serve_start_once(Clock::time_point until);
    void throw_if_lost();
    void handle_start_frame(Frame const& frame);
    void handle_start_signals();
    std::vector<int> awaited_nodes() const;   ///< nodes that have not sent their facts
    std::string awaited_names() const;
    LaunchError start_timeout_error() const;
    StartOrder start_order(NodeFacts const& own, std::string const& tuning);
    NodeFacts const& facts_of(int node, NodeFacts const& own) const;
    void check_mpi_libraries(NodeFacts const& own) const;
    ServiceOffer common_offer(NodeFacts const& own) const;
    std::string drawings(NodeFacts const& own, StartOrder const& order) const;

    void handle(Frame const& frame, Supervisor& supervisor);
    void add_output(Frame const& frame);
    void add_rank_states(Frame const& frame);
    IncomingLines& lines_of(int node, int stream);
    void on_lost(ChildDaemons::LostDaemon const& lost, Supervisor& supervisor);
    void close_streams(int node);
    void pump();
    void request_clock(int node);
    bool all_done() const;
    RemoteNode& at(int node);

    Job const& job_;
    Allocation const& allocation_;
    std::chrono::seconds const start_limit_;
    std::optional<Heartbeats> heartbeats_;
    ChildDaemons children_;
    Output* output_ = nullptr;
    Signals* signals_ = nullptr;
    std::vector<RemoteNode> nodes_;
    std::map<std::pair<int, int>, IncomingLines> lines_;   ///< by node and stream
    std::map<int, OutgoingStream> input_;                  ///< by node
    std::optional<Clock::time_point> deadline_;            ///< end of the wait for other nodes, once the job is ending
    RankStates rank_states_;                               ///< answers to the current RankQuery
    std::vector<Frame> deferred_frames_;                   ///< received, but not handled yet
    std::vector<ChildDaemons::LostDaemon> deferred_losses_;
    std::vector<std::unique_ptr<RemoteRankCounts>> counts_;
    Exchanges exchanges_;
    NotFreedCounts not_freed_;   // of other nodes
    Recording recording_;
    ClockOffsets clocks_;
    bool clocks_requested_ = false;
};

}   // namespace tutti::launcher
