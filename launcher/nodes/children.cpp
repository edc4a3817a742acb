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
using Clock = Silence::Clock;

constexpr auto for_the_last_words = 200ms;   // between the end of a connection and the end of its agent
constexpr auto for_going = 1000ms;           // for daemons to end after `quit`
constexpr auto for_dying = 5s;               // for an agent to die by SIGKILL, which may be delayed by a file server
constexpr std::size_t most_words = 2048;   // at least this many of the last bytes of an agent's standard error are kept
constexpr int most_reads = 16;             // of an agent's standard error in each iteration

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

std::string Children::Branch::words() const {
    std::string const line = on_one_line((greeted ? "" : handshake.noise()) + said);
    return line.empty() ? "" : join(" and said: ", line);
}

std::string Children::Branch::ending() const {
    if (!status) return {};
    return WIFSIGNALED(*status) ? join(agent, " was killed by ", signal_words(WTERMSIG(*status)), words())
                                : join(agent, " ended with exit code ", WEXITSTATUS(*status), words());
}

Children::Children(Job const& job, Allocation const& allocation)
    : job_(job), allocation_(allocation), silence_limit_(variables_of(job).silence) {}

// If there is no memory to send `quit`, the links are closed, which ends the daemons as well.
Children::~Children() {
    unless_out_of_memory([this] { return dismiss(), true; });
}

void Children::start(std::vector<int> const& nodes, std::string const& assignment, Guardian& guardian,
                     sigset_t const& mask, Heartbeats& heartbeats) {
    guardian_ = &guardian;
    std::size_t const count = nodes.size(), groups = std::min(count, fan_out);
    for (std::size_t g = 0; g < groups; ++g) {
        auto const from = nodes.begin() + static_cast<std::ptrdiff_t>(g * count / groups);
        auto const to = nodes.begin() + static_cast<std::ptrdiff_t>((g + 1) * count / groups);
        start_one({from, to}, assignment, mask).link.keep_alive(heartbeats);
    }
}

Children::Branch& Children::start_one(std::vector<int> nodes, std::string const& assignment, sigset_t const& mask) {
    auto branch = std::make_unique<Branch>();
    std::vector<std::string> command = agent_command(job_, name(nodes[0]));
    char const* path = std::getenv("PATH");
    Pipe in = Pipe::make(), out = Pipe::make(), error = Pipe::make();
    Start start{};
    start.path = find_program(command[0], "", path ? path : "/usr/local/bin:/usr/bin:/bin");
    start.command = command;
    start.environment = own_environment();
    start.input = in.read.get();
    start.output = out.write.get();
    start.error = error.write.get();
    start.signals = &mask;
    branch->agent = command[0];
    branch->pid = spawn(start);
    guardian_->watch(branch->pid);
    branch->link = Link(std::move(out.read), std::move(in.write));
    fcntl(error.read.get(), F_SETFL, O_NONBLOCK);
    branch->errors = std::move(error.read);
    Part const part{nodes[0], {nodes.begin() + 1, nodes.end()}};
    branch->link.send(FrameType::job, nodes[0], packed(part) + assignment);
    branch->nodes = std::move(nodes);
    return *children_.emplace_back(std::move(branch));
}

Children::Branch* Children::branch_of(int node) const {
    for (auto const& branch : children_)
        if (std::find(branch->nodes.begin(), branch->nodes.end(), node) != branch->nodes.end()) return branch.get();
    return nullptr;
}

void Children::send(FrameType type, int node, std::string_view body) {
    if (node >= 0) {
        if (Branch* branch = branch_of(node)) branch->link.send(type, node, body);
        return;
    }
    for (auto const& branch : children_) branch->link.send(type, -1, body);
}

void Children::watch(std::vector<pollfd>& set) const {
    for (auto const& branch : children_) {
        if (branch->lost) continue;
        if (!branch->broken) branch->link.watch(set);
        if (branch->errors) set.push_back({branch->errors.get(), POLLIN, 0});
    }
}

std::chrono::milliseconds Children::patience() const {
    std::chrono::milliseconds wait = 24h;
    for (auto const& branch : children_) {
        if (branch->lost) continue;
        wait = std::min(wait, branch->broken ? 20ms : branch->link.patience());
    }
    return wait;
}

/// Reads a part of what is available: an agent that never stops writing must not delay this process's time limits and
/// its other agents.
void Children::read_errors(Branch& branch) {
    char buffer[4096];
    for (int reads = 0; branch.errors && reads < most_reads; ++reads) {
        ssize_t const n = read(branch.errors.get(), buffer, sizeof buffer);
        if (n > 0) branch.said.append(buffer, static_cast<std::size_t>(n));
        else if (n < 0 && errno == EINTR) continue;
        else if (n < 0 && errno == EAGAIN) break;
        else branch.errors.reset();
    }
    if (branch.said.size() > 2 * most_words) branch.said.erase(0, branch.said.size() - most_words);
}

void Children::serve_one(Branch& branch, std::function<void(Frame&&)> const& got) {
    std::string bytes;
    read_errors(branch);
    bool const there = branch.link.exchange(bytes);
    if (!bytes.empty() && !branch.greeted) {
        std::string rest;
        branch.greeted = branch.handshake.add(bytes, rest);
        bytes = rest;
    }
    if (branch.greeted) branch.link.frames.add(bytes);
    while (branch.greeted) {
        std::optional<Frame> frame = branch.link.frames.next();
        if (!frame) break;
        if (frame->type != FrameType::beat) got(std::move(*frame));
    }
    if ((!there || branch.status) && !branch.broken) branch.broken = Clock::now();
}

/// Returns why the branch is lost; empty while it is not.
std::string Children::why_lost(Branch& branch) {
    std::string const host = name(branch.nodes[0]);
    if (branch.broken) {
        if (!branch.status && Clock::now() < *branch.broken + for_the_last_words) return {};
        if (!branch.greeted)
            return join("node ", host, " could not be reached: ",
                        branch.status ? branch.ending() : join(branch.agent, " closed the connection", branch.words()));
        return join("the connection with node ", host, " is gone: its daemon was killed, or the line broke",
                    branch.status ? "; " : "", branch.ending());
    }
    if (judging_ && branch.link.silence() > silence_limit_)
        return join("node ", host, " is lost: nothing has come from it for ", silence_limit_.count(),
                    " s (TUTTI_SILENCE)");
    return {};
}

void Children::serve(std::function<void(Frame&&)> const& got, std::function<void(Lost const&)> const& lost) {
    for (auto const& branch : children_) {
        if (branch->lost) continue;
        std::string why;
        try {
            serve_one(*branch, got);
            branch->link.look(Clock::now());
            why = why_lost(*branch);
        } catch (Error const& error) { why = join("node ", name(branch->nodes[0]), ": ", error.what()); }
        if (why.empty()) continue;
        branch->lost = true;
        branch->link.close();
        if (!dismissed_) lost({branch->nodes, why});
    }
}

bool Children::buried(pid_t pid, int status) {
    for (auto const& branch : children_) {
        if (branch->pid != pid) continue;
        branch->status = status;
        guardian_->forget(pid);
        return true;
    }
    return false;
}

std::string Children::words_about(int node) const {
    Branch const* branch = branch_of(node);
    return branch ? join(branch->agent, " has not ended", branch->words()) : "";
}

/// Kills an agent that is still running. Its connection is closed in any case, which also ends a daemon that the agent
/// has left behind.
void Children::let_go(Branch& branch) {
    if (branch.status) return;
    kill(-branch.pid, SIGKILL);
    kill(branch.pid, SIGKILL);   // in case it has left its group
    Clock::time_point const until = Clock::now() + for_dying;
    int status = 0;
    while (waitpid(branch.pid, &status, WNOHANG) == 0 && Clock::now() < until) std::this_thread::sleep_for(2ms);
    buried(branch.pid, status);
}

void Children::dismiss() {
    if (dismissed_) return;
    dismissed_ = true;
    send(FrameType::quit, -1);
    Clock::time_point const until = Clock::now() + for_going;
    auto staying = [](auto const& branch) { return !branch->status && !branch->lost; };
    while (std::any_of(children_.begin(), children_.end(), staying) && Clock::now() < until) {
        std::vector<pollfd> set;
        watch(set);
        poll(set.data(), set.size(), 10);
        serve([](Frame&&) {}, [](Lost const&) {});
        int status = 0;
        for (auto const& branch : children_)
            if (!branch->status && waitpid(branch->pid, &status, WNOHANG) == branch->pid) buried(branch->pid, status);
    }
    for (auto const& branch : children_) {
        branch->link.close();
        let_go(*branch);
    }
}

}   // namespace tutti::launcher
