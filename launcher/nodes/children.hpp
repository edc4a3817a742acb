// SPDX-License-Identifier: BSD-3-Clause
// The daemons that a launcher has started, each through an agent such as ssh, and its connections with them. With more
// than `fan_out` nodes, each daemon starts and represents further nodes by a ChildDaemons of its own, which forms a
// tree.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>
#include <csignal>

#include "launcher/nodes/link.hpp"
#include "launcher/nodes/messages.hpp"
#include "launcher/supervise/guardian.hpp"

namespace tutti::launcher {

class ChildDaemons {
public:
    static constexpr std::size_t fan_out = 16;   ///< maximum number of daemons that one launcher starts

    /// A daemon that can no longer be reached, and why. `nodes` are all nodes that it represents, its own first.
    struct LostDaemon {
        std::vector<int> nodes;
        std::string message;
    };

    /// Both must stay valid as long as this object.
    ChildDaemons(Job const& job, Allocation const& allocation);
    ~ChildDaemons();

    /// Divides `nodes` into at most `fan_out` groups, and starts a daemon on the first node of each group, which
    /// represents the others. `assignment` is a packed Assignment, `mask` the signal mask of the agents. `guardian`
    /// must stay valid as long as this object. `heartbeats` keeps the links alive. Throws LaunchError if there is no
    /// agent.
    void start(std::vector<int> const& nodes, std::string assignment, Guardian& guardian, sigset_t const& mask,
               Heartbeats& heartbeats);
    /// Called when an agent cannot reach its host yet and is started again (Job::hosts_may_be_starting): once for each
    /// agent, with the reason. Null: not called.
    std::function<void(std::string const&)> on_retry;

    bool empty() const { return children_.empty(); }
    /// Sends to one node, or to all if `node` is −1.
    void send(FrameType type, int node, std::string_view body = {});

    /// Adds the descriptors to be polled.
    void watch(std::vector<pollfd>& set) const;
    /// Returns the time until `serve` must be called, even if no descriptor is ready.
    std::chrono::milliseconds poll_timeout() const;
    /// Reads and writes what is possible. Calls `on_frame` for each frame except heartbeats, and `on_lost` once for
    /// each lost daemon, but not after `shut_down`.
    void serve(std::function<void(Frame&&)> const& on_frame, std::function<void(LostDaemon const&)> const& on_lost);
    /// From now on a node that is silent for longer than TUTTI_SILENCE is lost.
    void enable_silence_check() { checks_silence_ = true; }

    /// Called when a child process has ended. Returns true if it was an agent that this object has started.
    bool on_child_exit(pid_t pid, int status);
    /// Does that for all agents that have ended, for a caller that waits for no other children.
    void reap_agents();
    /// Returns "ssh has not ended", followed by the text that the agent of this node's branch has printed, if any.
    /// Returns an empty string if no branch contains the node.
    std::string describe_agent(int node) const;

    /// Orders all daemons to quit, waits a moment, and kills the agents that are still running.
    void shut_down();

private:
    struct Branch {
        std::vector<int> nodes;   ///< the daemon's own node first
        pid_t pid = -1;
        std::string agent;   ///< name of the agent, for messages
        Link link;
        Descriptor errors;
        std::string error_output;   ///< the end of its output on standard error
        HandshakeReader handshake;
        bool handshake_done = false, lost = false;
        std::optional<int> status;   ///< set once the agent has ended
        std::optional<SilenceTimer::Clock::time_point> broken_since;
        std::optional<SilenceTimer::Clock::time_point> retry_at;   ///< when the agent is started again; none: it runs
        std::string last_exit;   ///< how the agent has ended in the last attempt; empty: there was one attempt

        std::string error_text() const;
        std::string describe_agent_exit() const;
    };

    void start_agent(Branch& branch);
    bool may_be_starting(Branch const& branch) const;
    void retry_later(Branch& branch, std::string const& why);
    Branch* branch_of(int node) const;
    std::string const& name(int node) const { return allocation_.nodes[static_cast<std::size_t>(node)]; }
    void serve_one(Branch& branch, std::function<void(Frame&&)> const& on_frame);
    void read_errors(Branch& branch);
    std::string why_lost(Branch& branch);
    void kill_agent(Branch& branch);

    Job const& job_;
    Allocation const& allocation_;
    std::chrono::seconds const silence_limit_;
    std::vector<std::unique_ptr<Branch>> children_;
    std::string assignment_;
    sigset_t mask_{};
    Heartbeats* heartbeats_ = nullptr;
    Guardian* guardian_ = nullptr;
    bool checks_silence_ = false, shut_down_ = false;
};

}   // namespace tutti::launcher
