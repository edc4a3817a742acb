// SPDX-License-Identifier: BSD-3-Clause
// The other nodes as a daemon sees them: its parent (mpiexec, or a daemon that represents this one), and the daemons
// that it has started itself. The output of this process goes into pipes and is sent to the parent. Frames from the
// parent are carried out, or forwarded to the children.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "launcher/nodes/children.hpp"
#include "launcher/nodes/remote_streams.hpp"
#include "launcher/supervise/other_nodes.hpp"
#include "runtime/settings/variables.hpp"

namespace tutti::launcher {

class Daemon : public OtherNodes {
public:
    /// Takes descriptors 0 and 1 as the connection with the parent, replaces them by /dev/null, and writes the
    /// handshake.
    Daemon();

    /// Waits for the job, adopts the environment and folder of mpiexec, and replaces descriptors 0, 1 and 2 by pipes.
    /// Returns false if the parent has gone. Throws LaunchError if the folder cannot be entered but is needed.
    bool receive();
    Job const& job() const { return assignment_.job; }
    Allocation const& allocation() const { return assignment_.allocation; }

    /// Reports that the job has failed here before it began, and waits until mpiexec has dismissed this daemon or the
    /// parent has gone.
    void fail(LaunchError const& error);

    bool is_root() const override { return false; }
    std::vector<int> const& node_of() const override { return allocation().node_of; }
    std::vector<int> input_nodes() const override { return {}; }
    void start_daemons(LauncherObjects objects) override;
    ClusterInfo exchange_facts(NodeFacts const& own, std::string const& tuning) override;

    void watch(std::vector<pollfd>& set) const override;
    void serve(Supervisor& supervisor) override;
    std::chrono::milliseconds poll_timeout() const override;
    bool running() const override { return false; }
    bool on_child_exit(pid_t pid, int status) override { return children_ && children_->on_child_exit(pid, status); }

    bool report(RankExit const& exit) override;
    bool report(NodeUpdate const& update) override;
    bool report(Report const& error) override;
    void report(NeverInitialized const& rank) override;
    std::optional<Exchanged> exchange(Contribution const& part) override;
    void forward_signal(int) override {}
    void end_ranks() override {}
    bool query_waits(int, WaitQuery const&) override { return false; }
    RankStates query_ranks(RankQuery const&) override { return {}; }
    void finish(Supervisor& supervisor, Segment const* segment) override;
    void shut_down_daemons() override {
        if (children_) children_->shut_down();
    }
    AllRankCounts with_others(AllRankCounts) override { return {}; }
    NotFreedCounts with_others(NotFreedCounts) override { return {}; }
    Recording with_others(Recording own) override { return own; }

private:
    using Clock = SilenceTimer::Clock;

    void open_pipes();
    /// Serves the parent and the children once. `supervisor` is null before it exists.
    void serve_once(Supervisor* supervisor);
    void poll_once(Supervisor* supervisor);
    void handle_parent_frame(Frame const& frame, Supervisor* supervisor);
    void execute(Frame const& frame, Supervisor* supervisor);
    void serve_parent(Supervisor* supervisor);
    void leave_job(Supervisor* supervisor, std::string const& reason);
    void send_recording(Segment const& segment);
    void finish_when_dismissed(Supervisor* supervisor);
    void pump();
    void send_to_parent(FrameType type, std::string_view body = {}) { parent_.send(type, subtree_.node, body); }
    std::string const& name() const { return allocation().nodes[static_cast<std::size_t>(subtree_.node)]; }

    Link parent_;
    DaemonSubtree subtree_;
    Assignment assignment_;
    std::string assignment_bytes_;                              ///< as received, for the daemons below this one
    std::chrono::seconds silence_limit_{Variables{}.silence};   ///< the default until the job has been received
    std::optional<Heartbeats> heartbeats_;
    std::unique_ptr<ChildDaemons> children_;
    OutgoingStream output_, errors_;
    IncomingBytes input_;
    std::optional<StartOrder> start_;
    bool parent_stopped_ = false;   ///< the parent has announced that it is stopped: its silence is no error
    bool parent_gone_ = false, dismissed_ = false;
};

}   // namespace tutti::launcher
