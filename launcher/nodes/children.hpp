// SPDX-License-Identifier: BSD-3-Clause
// The daemons that a launcher has started, through an agent each, and speaks with. Above `fan_out` nodes a daemon
// starts and speaks for others by a Children of its own: a tree.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>
#include <csignal>

#include "launcher/nodes/assignment.hpp"
#include "launcher/nodes/link.hpp"
#include "launcher/nodes/outbox.hpp"
#include "launcher/supervise/guardian.hpp"

namespace tutti::launcher {

class Children {
public:
    static constexpr std::size_t fan_out = 16;

    /// A node that cannot be spoken with any more, all for which its daemon spoke (itself first), and why.
    struct Lost {
        std::vector<int> nodes;
        std::string sentence;
    };

    Children(Job const& job, Allocation const& allocation);
    ~Children();

    /// Starts a daemon for each of the first nodes of the tree over `nodes`; `assignment` is a packed Assignment.
    /// Their links are kept alive by `heartbeats`. Throws Complaint when there is no agent.
    void start(std::vector<int> const& nodes, std::string const& assignment, Guardian& guardian, sigset_t const& mask,
               Heartbeats& heartbeats);

    bool empty() const { return children_.empty(); }
    /// To one node, or to all when it is −1.
    void send(FrameType type, int node, std::string_view body = {});

    void watch(std::vector<pollfd>& set) const;
    std::chrono::milliseconds patience() const;
    void serve(std::function<void(Frame&&)> const& got, std::function<void(Lost const&)> const& lost);
    /// From now on silence is the end of a node.
    void judge_silence() { judging_ = true; }

    bool buried(pid_t pid, int status);
    /// What the agent of the branch with this node has printed, as words behind a sentence; may be empty.
    std::string words_about(int node) const;

    /// Tells all to go, waits a moment for that, and kills the agents that are still there.
    void dismiss();

private:
    struct Branch {
        std::vector<int> nodes;   ///< that of the daemon first
        pid_t pid = -1;
        std::string agent;   ///< its name, for sentences
        Link link;
        Descriptor errors;
        std::string said;   ///< on standard error, the end of it
        HandshakeReader handshake;
        bool greeted = false, lost = false;
        std::optional<int> status;   ///< the agent has ended
        std::optional<Silence::Clock::time_point> broken;

        std::string words() const;
        std::string ending() const;
    };

    Branch& start_one(std::vector<int> nodes, std::string const& assignment, sigset_t const& mask);
    Branch* branch_of(int node) const;
    std::string const& name(int node) const { return allocation_.nodes[static_cast<std::size_t>(node)]; }
    void serve_one(Branch& branch, std::function<void(Frame&&)> const& got);
    void read_errors(Branch& branch);
    std::string why_lost(Branch& branch);
    void let_go(Branch& branch);

    Job const& job_;
    Allocation const& allocation_;
    std::chrono::seconds const silence_limit_;
    std::vector<std::unique_ptr<Branch>> children_;
    Guardian* guardian_ = nullptr;
    bool judging_ = false, dismissed_ = false;
};

}   // namespace tutti::launcher
