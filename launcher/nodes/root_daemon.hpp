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

class RootDaemon : public Elsewhere {
public:
    RootDaemon(Job const& job, Allocation const& allocation);

    bool decides() const override { return true; }
    std::vector<int> const& node_of() const override { return allocation_.node_of; }
    std::vector<int> readers() const override;
    void begin(OwnLauncher own) override;
    World meet(NodeFacts const& own, std::string const& tuning) override;

    void watch(std::vector<pollfd>& set) const override;
    void serve(Supervisor& supervisor) override;
    std::chrono::milliseconds patience() const override;
    bool running() const override;
    bool buried(pid_t pid, int status) override { return children_.buried(pid, status); }

    bool report(Verdict const&) override { return false; }
    bool report(NodeNews const&) override { return false; }
    bool report(Report const&) override { return false; }
    void report(Missing const& missing) override;
    void pass_on(int signal) override;
    void end() override;
    bool ask(int node, Question const& question) override;
    RanksSeen see(Inquiry const& inquiry) override;
    void finish(Supervisor& supervisor, Segment const* segment) override;
    void part() override { children_.dismiss(); }
    AllRankCounts with_others(AllRankCounts own) override;
    NotFreedCounts with_others(NotFreedCounts own) override;
    Recording with_others(Recording own) override;

private:
    using Clock = Silence::Clock;
    struct RemoteNode {
        std::optional<NodeFacts> facts;
        bool done = false;       ///< its ranks have ended; its daemon still answers
        bool lost = false;       ///< it can no longer be reached
        bool answered = false;   ///< it has answered the last Inquiry
    };

    void start_turn(Clock::time_point until);
    void gather_lost();
    void start_frame(Frame const& frame);
    void hear_signals();
    std::vector<int> awaited_nodes() const;   ///< nodes that have not sent their facts
    std::string awaited_words() const;
    Complaint nobody_answers() const;
    StartOrder start_order(NodeFacts const& own, std::string const& tuning);
    std::string drawings(NodeFacts const& own, StartOrder const& order) const;

    void handle(Frame const& frame, Supervisor& supervisor);
    void take_output(Frame const& frame);
    void take_seen(Frame const& frame);
    IncomingLines& lines_of(int node, int stream);
    void lose(Children::Lost const& lost, Supervisor& supervisor);
    void close_streams(int node);
    void pump();
    void ask_clock(int node);
    bool all_done() const;
    RemoteNode& at(int node);

    Job const& job_;
    Allocation const& allocation_;
    std::chrono::seconds const start_limit_;
    std::optional<Heartbeats> heartbeats_;
    Children children_;
    Output* output_ = nullptr;
    Signals* signals_ = nullptr;
    std::vector<RemoteNode> nodes_;
    std::map<std::pair<int, int>, IncomingLines> lines_;   ///< by node and stream
    std::map<int, Outgoing> input_;                        ///< by node
    std::optional<Clock::time_point> end_by_;              ///< end of the wait for other nodes, once the job is ending
    RanksSeen seen_;                                       ///< answers to the current Inquiry
    std::vector<Frame> later_;                             ///< received, but not handled yet
    std::vector<Children::Lost> lost_later_;
    std::vector<std::unique_ptr<RankCountsCopy>> counts_;
    NotFreedCounts not_freed_;   // of other nodes
    Recording recorded_;
    ClockOffsets clocks_;
    bool clocks_asked_ = false;
};

}   // namespace tutti::launcher
