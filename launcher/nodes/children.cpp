// SPDX-License-Identifier: BSD-3-Clause
// Starts daemons, exchanges frames with them, and detects lost ones.
#include "launcher/nodes/children.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <thread>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/placement/placement.hpp"
#include "launcher/start/commands.hpp"
#include "launcher/start/spawn.hpp"
#include "runtime/base/error.hpp"

namespace tutti::launcher {
namespace {

using namespace std::chrono_literals;
using Clock = SilenceTimer::Clock;

// between the end of a connection and the end of its agent, and the same where the exit code decides on another attempt
constexpr std::chrono::milliseconds agent_exit_timeout = 200ms, decisive_exit_timeout = 10s;
constexpr auto retry_interval = 1s;     // between attempts to reach a host that may be starting
constexpr auto quit_timeout = 1000ms;   // for daemons to end after `quit`
constexpr auto kill_timeout = 5s;       // for an agent to die by SIGKILL, which may be delayed by a file server
constexpr std::size_t kept_error_bytes =
    2048;                       // at least this many of the last bytes of an agent's standard error are kept
constexpr int max_reads = 16;   // of an agent's standard error in each iteration

std::vector<std::string> own_environment() {
    std::vector<std::string> all;
    for (char** entry = environ; *entry; ++entry) all.emplace_back(*entry);
    return all;
}

/// Joins several lines into one, without the final full stop.
std::string on_one_line(std::string_view text) {
    std::string line;
    for (char c : text) {
        if (c == '\r') continue;
        if (c != '\n') line += c;
        else if (!line.empty() && !line.ends_with("; ")) line += "; ";
    }
    while (!line.empty() && std::string_view("; .").find(line.back()) != std::string_view::npos) line.pop_back();
    return line;
}

}   // namespace

std::string ChildDaemons::Branch::error_text() const {
    std::string const line = on_one_line((handshake_done ? "" : handshake.preceding_text()) + error_output);
    return line.empty() ? "" : join(" and printed: ", line);
}

std::string ChildDaemons::Branch::describe_agent_exit() const {
    if (!status) return {};
    return WIFSIGNALED(*status) ? join(agent, " was killed by ", describe_signal(WTERMSIG(*status)), error_text())
                                : join(agent, " ended with exit code ", WEXITSTATUS(*status), error_text());
}

ChildDaemons::ChildDaemons(Job const& job, Allocation const& allocation)
    : job_(job), allocation_(allocation), silence_limit_(variables_of(job).silence) {}

// If there is no memory to send `quit`, the links are closed, which ends the daemons as well.
ChildDaemons::~ChildDaemons() {
    unless_out_of_memory([this] { return shut_down(), true; });
}

void ChildDaemons::start(std::vector<int> const& nodes, std::string assignment, Guardian& guardian,
                         sigset_t const& mask, Heartbeats& heartbeats) {
    guardian_ = &guardian;
    heartbeats_ = &heartbeats;
    assignment_ = std::move(assignment);
    mask_ = mask;
    std::size_t const count = nodes.size(), groups = std::min(count, fan_out);
    for (std::size_t g = 0; g < groups; ++g) {
        auto const from = nodes.begin() + static_cast<std::ptrdiff_t>(g * count / groups);
        auto const to = nodes.begin() + static_cast<std::ptrdiff_t>((g + 1) * count / groups);
        auto branch = std::make_unique<Branch>();
        branch->nodes = {from, to};
        start_agent(*branch);
        children_.push_back(std::move(branch));
    }
}

/// Starts the agent of a new branch, or of one whose agent has ended.
void ChildDaemons::start_agent(Branch& branch) {
    std::vector<int> const& nodes = branch.nodes;
    std::vector<std::string> command = agent_command(job_, name(nodes[0]));
    char const* path = std::getenv("PATH");
    Pipe in = Pipe::make(), out = Pipe::make(), error = Pipe::make();
    SpawnOptions start{};
    start.path = find_program(command[0], "", path ? path : "/usr/local/bin:/usr/bin:/bin");
    start.command = command;
    start.environment = own_environment();
    start.input = in.read.get();
    start.output = out.write.get();
    start.error = error.write.get();
    start.signal_mask = &mask_;
    branch.agent = command[0];
    branch.pid = spawn(start);
    guardian_->add_group(branch.pid);
    branch.link = Link(std::move(out.read), std::move(in.write));
    fcntl(error.read.get(), F_SETFL, O_NONBLOCK);
    branch.errors = std::move(error.read);
    branch.error_output.clear();
    branch.handshake = {};
    branch.status.reset();
    branch.broken_since.reset();
    branch.retry_at.reset();
    DaemonSubtree const subtree{nodes[0], {nodes.begin() + 1, nodes.end()}};
    branch.link.send(FrameType::job, nodes[0], packed(subtree) + assignment_);
    branch.link.keep_alive(*heartbeats_);
}

/// Returns true if the agent has ended as ssh does when it cannot connect. A host that the environment names may still
/// be starting: Kubernetes' mpi-operator starts mpiexec while the workers' names and servers are not there yet.
bool ChildDaemons::may_be_starting(Branch const& branch) const {
    constexpr int cannot_connect = 255;
    return job_.hosts_may_be_starting && !shut_down_ && !branch.handshake_done && branch.status &&
           WIFEXITED(*branch.status) && WEXITSTATUS(*branch.status) == cannot_connect;
}

/// Keeps the branch until its agent is started again. TUTTI_START_TIMEOUT ends the attempts.
void ChildDaemons::retry_later(Branch& branch, std::string const& why) {
    branch.link.close();
    branch.retry_at = Clock::now() + retry_interval;
    if (on_retry && branch.last_exit.empty())
        on_retry(join(why, "; trying again until TUTTI_START_TIMEOUT has passed"));
    branch.last_exit = branch.describe_agent_exit();
}

ChildDaemons::Branch* ChildDaemons::branch_of(int node) const {
    for (auto const& branch : children_)
        if (std::find(branch->nodes.begin(), branch->nodes.end(), node) != branch->nodes.end()) return branch.get();
    return nullptr;
}

void ChildDaemons::send(FrameType type, int node, std::string_view body) {
    if (node >= 0) {
        if (Branch* branch = branch_of(node)) branch->link.send(type, node, body);
        return;
    }
    for (auto const& branch : children_) branch->link.send(type, -1, body);
}

void ChildDaemons::watch(std::vector<pollfd>& set) const {
    for (auto const& branch : children_) {
        if (branch->lost || branch->retry_at) continue;
        if (!branch->broken_since) branch->link.watch(set);
        if (branch->errors) set.push_back({branch->errors.get(), POLLIN, 0});
    }
}

std::chrono::milliseconds ChildDaemons::poll_timeout() const {
    std::chrono::milliseconds wait = 24h;
    for (auto const& branch : children_) {
        if (branch->lost) continue;
        bool const polls = branch->broken_since || branch->retry_at;
        wait = std::min(wait, polls ? 20ms : branch->link.poll_timeout());
    }
    return wait;
}

/// Reads a part of what is available: an agent that never stops writing must not delay this process's time limits and
/// its other agents.
void ChildDaemons::read_errors(Branch& branch) {
    char buffer[4096];
    for (int reads = 0; branch.errors && reads < max_reads; ++reads) {
        ssize_t const n = read(branch.errors.get(), buffer, sizeof buffer);
        if (n > 0) branch.error_output.append(buffer, static_cast<std::size_t>(n));
        else if (n < 0 && errno == EINTR) continue;
        else if (n < 0 && errno == EAGAIN) break;
        else branch.errors.reset();
    }
    if (branch.error_output.size() > 2 * kept_error_bytes)
        branch.error_output.erase(0, branch.error_output.size() - kept_error_bytes);
}

void ChildDaemons::serve_one(Branch& branch, std::function<void(Frame&&)> const& on_frame) {
    std::string bytes;
    read_errors(branch);
    bool const connected = branch.link.exchange(bytes);
    if (!bytes.empty() && !branch.handshake_done) {
        std::string rest;
        branch.handshake_done = branch.handshake.add(bytes, rest);
        bytes = rest;
    }
    if (branch.handshake_done) branch.link.frames.add(bytes);
    while (branch.handshake_done) {
        std::optional<Frame> frame = branch.link.frames.next();
        if (!frame) break;
        if (frame->type != FrameType::beat) on_frame(std::move(*frame));
    }
    if ((!connected || branch.status) && !branch.broken_since) branch.broken_since = Clock::now();
}

/// Returns why the branch is lost; empty while it is not.
std::string ChildDaemons::why_lost(Branch& branch) {
    std::string const host = name(branch.nodes[0]);
    if (branch.broken_since) {
        auto const timeout =
            job_.hosts_may_be_starting && !branch.handshake_done ? decisive_exit_timeout : agent_exit_timeout;
        if (!branch.status && Clock::now() < *branch.broken_since + timeout) return {};
        if (!branch.handshake_done)
            return join("node ", host, " could not be reached: ",
                        branch.status ? branch.describe_agent_exit()
                                      : join(branch.agent, " closed the connection", branch.error_text()));
        return join("the connection with node ", host, " was lost: its daemon was killed, or the network failed",
                    branch.status ? "; " : "", branch.describe_agent_exit());
    }
    if (checks_silence_ && branch.link.silence() > silence_limit_)
        return join("node ", host, " is lost: nothing was received from it for ", silence_limit_.count(),
                    " s (TUTTI_SILENCE)");
    return {};
}

void ChildDaemons::serve(std::function<void(Frame&&)> const& on_frame,
                         std::function<void(LostDaemon const&)> const& on_lost) {
    for (auto const& branch : children_) {
        if (branch->lost) continue;
        if (branch->retry_at) {
            if (!shut_down_ && Clock::now() >= *branch->retry_at) start_agent(*branch);
            continue;
        }
        std::string why;
        try {
            serve_one(*branch, on_frame);
            branch->link.update_silence(Clock::now());
            why = why_lost(*branch);
        } catch (Error const& error) { why = join("node ", name(branch->nodes[0]), ": ", error.what()); }
        if (why.empty()) continue;
        if (may_be_starting(*branch)) {
            retry_later(*branch, why);
            continue;
        }
        branch->lost = true;
        branch->link.close();
        if (!shut_down_) on_lost({branch->nodes, why});
    }
}

bool ChildDaemons::on_child_exit(pid_t pid, int status) {
    for (auto const& branch : children_) {
        if (branch->pid != pid) continue;
        branch->status = status;
        guardian_->remove_group(pid);
        return true;
    }
    return false;
}

void ChildDaemons::reap_agents() {
    int status = 0;
    for (auto const& branch : children_)
        if (!branch->status && waitpid(branch->pid, &status, WNOHANG) == branch->pid)
            on_child_exit(branch->pid, status);
}

std::string ChildDaemons::describe_agent(int node) const {
    Branch const* branch = branch_of(node);
    if (!branch) return {};
    if (!branch->last_exit.empty()) return join("in the last attempt, ", branch->last_exit);
    return join(branch->agent, " has not ended", branch->error_text());
}

/// Kills an agent that is still running. Its connection is closed in any case, which also ends a daemon that the agent
/// has left behind.
void ChildDaemons::kill_agent(Branch& branch) {
    if (branch.status) return;
    kill(-branch.pid, SIGKILL);
    kill(branch.pid, SIGKILL);   // in case it has left its group
    Clock::time_point const until = Clock::now() + kill_timeout;
    int status = 0;
    while (waitpid(branch.pid, &status, WNOHANG) == 0 && Clock::now() < until) std::this_thread::sleep_for(2ms);
    on_child_exit(branch.pid, status);
}

void ChildDaemons::shut_down() {
    if (shut_down_) return;
    shut_down_ = true;
    send(FrameType::quit, -1);
    Clock::time_point const until = Clock::now() + quit_timeout;
    auto is_running = [](auto const& branch) { return !branch->status && !branch->lost; };
    while (std::any_of(children_.begin(), children_.end(), is_running) && Clock::now() < until) {
        std::vector<pollfd> set;
        watch(set);
        poll(set.data(), set.size(), 10);
        serve([](Frame&&) {}, [](LostDaemon const&) {});
        reap_agents();
    }
    for (auto const& branch : children_) {
        branch->link.close();
        kill_agent(*branch);
    }
}

}   // namespace tutti::launcher
