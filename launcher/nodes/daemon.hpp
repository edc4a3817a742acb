// SPDX-License-Identifier: BSD-3-Clause
// The other nodes as a daemon sees them: its parent (mpiexec, or a daemon that speaks for it), and the daemons that it
// has started itself. Output of this process, which goes into pipes, is passed up; what comes down is carried out or
// passed on.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "launcher/nodes/children.hpp"
#include "launcher/nodes/streams.hpp"
#include "launcher/supervise/elsewhere.hpp"
#include "runtime/settings/variables.hpp"

namespace tutti::launcher {

class Daemon : public Elsewhere {
public:
    /// Descriptors 0 and 1 are the parent's: they are taken away, and the handshake is written.
    Daemon();

    /// Waits for the job, becomes like mpiexec in environment and folder, and puts pipes in the place of descriptors
    /// 0, 1 and 2. False when the parent has gone. Throws Complaint.
    bool receive();
    Job const& job() const { return assignment_.job; }
    Allocation const& allocation() const { return assignment_.allocation; }

    /// The job has failed here before it began; waits until mpiexec has heard of it.
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
    /// One round with the parent and the children; `supervisor` is null before there is one.
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
    std::string assignment_bytes_;                              ///< as they came, for those below
    std::chrono::seconds silence_limit_{Variables{}.silence};   ///< until the job says another one
    std::optional<Heartbeats> heartbeats_;
    std::unique_ptr<Children> children_;
    Outgoing output_, errors_;
    IncomingBytes input_;
    std::optional<StartOrder> start_;
    bool parent_stopped_ = false;   ///< it has said so: its silence means nothing
    bool gone_ = false, dismissed_ = false;
};

}   // namespace tutti::launcher
