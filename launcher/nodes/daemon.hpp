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

class Daemon : public Elsewhere {
public:
    /// Takes descriptors 0 and 1 as the connection with the parent, replaces them by /dev/null, and writes the
    /// handshake.
    Daemon();

    /// Waits for the job, adopts the environment and folder of mpiexec, and replaces descriptors 0, 1 and 2 by pipes.
    /// Returns false if the parent has gone. Throws Complaint if the folder cannot be entered but is needed.
    bool receive();
    Job const& job() const { return assignment_.job; }
    Allocation const& allocation() const { return assignment_.allocation; }

    /// Reports that the job has failed here before it began, and waits until mpiexec has dismissed this daemon or the
    /// parent has gone.
    void fail(Complaint const& complaint);

    bool decides() const override { return false; }
    std::vector<int> const& node_of() const override { return allocation().node_of; }
    std::vector<int> readers() const override { return {}; }
    void begin(OwnLauncher own) override;
    World meet(NodeFacts const& own, std::string const& tuning) override;

    void watch(std::vector<pollfd>& set) const override;
    void serve(Supervisor& supervisor) override;
    std::chrono::milliseconds patience() const override;
    bool running() const override { return false; }
    bool buried(pid_t pid, int status) override { return children_ && children_->buried(pid, status); }

    bool report(Verdict const& verdict) override;
    bool report(NodeNews const& news) override;
    bool report(Report const& mistake) override;
    void report(Missing const& missing) override;
    void pass_on(int) override {}
    void end() override {}
    bool ask(int, Question const&) override { return false; }
    RanksSeen see(Inquiry const&) override { return {}; }
    void finish(Supervisor& supervisor, Segment const* segment) override;
    void part() override {
        if (children_) children_->dismiss();
    }
    AllRankCounts with_others(AllRankCounts) override { return {}; }
    NotFreedCounts with_others(NotFreedCounts) override { return {}; }
    Recording with_others(Recording own) override { return own; }

private:
    using Clock = Silence::Clock;

    void open_pipes();
    /// Serves the parent and the children once. `supervisor` is null before it exists.
    void turn(Supervisor* supervisor);
    void wait_a_turn(Supervisor* supervisor);
    void from_parent(Frame const& frame, Supervisor* supervisor);
    void carry_out(Frame const& frame, Supervisor* supervisor);
    void look_at_parent(Supervisor* supervisor);
    void leave(Supervisor* supervisor, std::string const& reason);
    void send_recording(Segment const& segment);
    void finish_when_dismissed(Supervisor* supervisor);
    void pump();
    void up(FrameType type, std::string_view body = {}) { parent_.send(type, part_.node, body); }
    std::string const& name() const { return allocation().nodes[static_cast<std::size_t>(part_.node)]; }

    Link parent_;
    Part part_;
    Assignment assignment_;
    std::string assignment_bytes_;                              ///< as received, for the daemons below this one
    std::chrono::seconds silence_limit_{Variables{}.silence};   ///< the default until the job has been received
    std::optional<Heartbeats> heartbeats_;
    std::unique_ptr<Children> children_;
    Outgoing output_, errors_;
    IncomingBytes input_;
    std::optional<StartOrder> start_;
    bool parent_stopped_ = false;   ///< the parent has announced that it is stopped: its silence is no error
    bool gone_ = false, dismissed_ = false;
};

}   // namespace tutti::launcher
