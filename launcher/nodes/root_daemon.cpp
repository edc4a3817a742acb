// SPDX-License-Identifier: BSD-3-Clause
// mpiexec's side of the connections with its daemons.
#include "launcher/nodes/root_daemon.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <set>
#include <span>

#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apps/options.hpp"
#include "launcher/nodes/messages.hpp"
#include "launcher/nodes/node_data.hpp"
#include "launcher/placement/placement.hpp"
#include "launcher/start/commands.hpp"
#include "launcher/supervise/input.hpp"
#include "launcher/supervise/output.hpp"
#include "launcher/supervise/signals.hpp"
#include "launcher/supervise/supervisor.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/base/error.hpp"

namespace tutti::launcher {
namespace {

using namespace std::chrono_literals;
using LostDaemon = ChildDaemons::LostDaemon;

constexpr auto end_timeout = 1300ms;          // for daemons, from SIGTERM to their last frame
constexpr auto further_losses_wait = 300ms;   // wait for further nodes that are lost at nearly the same time

std::string random_key() {
    std::string key(sizeof(JobKey), 0);
    for (std::size_t got = 0; got < key.size();) {
        ssize_t const n = getrandom(key.data() + got, key.size() - got, 0);
        if (n > 0) got += static_cast<std::size_t>(n);
        else if (errno != EINTR) throw LaunchError("the system provided no random numbers for the job's key", 1);
    }
    return key;
}

}   // namespace

RootDaemon::RootDaemon(Job const& job, Allocation const& allocation)
    : job_(job), allocation_(allocation), start_limit_(variables_of(job).start_timeout), children_(job, allocation),
      nodes_(allocation.nodes.size()) {}

RootDaemon::RemoteNode& RootDaemon::at(int node) {
    if (node < 0 || node >= static_cast<int>(nodes_.size()) || node == allocation_.local_node)
        fail(ErrorClass::other, "received a frame that names a node outside this job");
    return nodes_[static_cast<std::size_t>(node)];
}

std::vector<int> RootDaemon::input_nodes() const {
    std::vector<int> nodes;
    if (job_.input.kind == InputTarget::Kind::one)
        nodes.push_back(allocation_.node_of[static_cast<std::size_t>(job_.input.rank)]);
    else if (job_.input.kind == InputTarget::Kind::all)
        for (int node = 0; node < static_cast<int>(nodes_.size()); ++node) nodes.push_back(node);
    std::erase(nodes, allocation_.local_node);
    return nodes;
}

void RootDaemon::start_daemons(LauncherObjects objects) {
    output_ = &objects.output;
    signals_ = &objects.signals;
    std::error_code error;
    Assignment assignment{job_, allocation_, std::filesystem::current_path(error), {}};
    if (error) throw LaunchError(join("the current folder cannot be found: ", error.message()), 1);
    assignment.job.on_terminal = objects.output.standard_output().terminal();
    for (char** entry = environ; *entry; ++entry) assignment.environment.emplace_back(*entry);
    std::vector<int> others;
    for (int node = 0; node < static_cast<int>(nodes_.size()); ++node)
        if (node != allocation_.local_node) others.push_back(node);
    children_.on_retry = [this](std::string const& why) { output_->print_message(why); };
    children_.start(others, packed(assignment), objects.guardian, signals_->original_mask(), heartbeats_.emplace());
    if (job_.verbose) {
        std::string text;
        for (std::string const& argument : agent_command(job_, "HOST")) text += " " + argument;
        objects.output.print_message(join("daemons for ", others.size(), " other nodes are started by:", text));
    }
    for (int node : others)
        if (Descriptor pipe = objects.input.take_pipe_for(node)) input_.emplace(node, OutgoingStream(std::move(pipe)));
}

std::vector<int> RootDaemon::awaited_nodes() const {
    std::vector<int> awaited;
    for (int node = 0; node < static_cast<int>(nodes_.size()); ++node)
        if (node != allocation_.local_node && !nodes_[static_cast<std::size_t>(node)].facts) awaited.push_back(node);
    return awaited;
}

std::string RootDaemon::awaited_names() const { return node_names(allocation_, awaited_nodes()); }

// If the daemon that mpiexec has started for a branch has not sent its handshake, that node is the cause. A node behind
// a daemon is only known to be missing.
LaunchError RootDaemon::start_timeout_error() const {
    std::vector<int> const awaited = awaited_nodes();
    std::string message =
        join("node ", allocation_.nodes[static_cast<std::size_t>(awaited.front())], " has not answered within ",
             start_limit_.count(), " s (TUTTI_START_TIMEOUT); ", children_.describe_agent(awaited.front()));
    for (int node : std::span(awaited).subspan(1))
        message += join("; nor has node ", allocation_.nodes[static_cast<std::size_t>(node)]);
    return LaunchError(message, 1);
}

void RootDaemon::handle_start_signals() {
    while (std::optional<int> signal = signals_->next()) {
        if (*signal == SIGCHLD) {
            int status = 0;
            for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) children_.on_child_exit(pid, status);
        } else if (*signal == SIGTSTP) {
            raise(SIGSTOP);
        } else if (*signal != SIGCONT && *signal != SIGUSR1 && *signal != SIGUSR2) {
            throw LaunchError(join("ended by ", describe_signal(*signal), " while waiting for ", awaited_names()),
                              128 + *signal);
        }
    }
}

void RootDaemon::handle_start_frame(Frame const& frame) {
    RemoteNode& node = at(frame.node);
    if (frame.type == FrameType::ready) node.facts = unpacked<NodeFacts>(frame.body);
    if (frame.type == FrameType::output || frame.type == FrameType::abort_notice) add_output(frame);
    if (frame.type == FrameType::failed) {
        auto const exit = unpacked<RankExit>(frame.body);
        if (exit.kind != RankExit::Kind::killed) throw LaunchError(exit.message, exit.code);
        deferred_losses_.push_back({{frame.node}, exit.message});
    }
}

void RootDaemon::serve_start_once(Clock::time_point until) {
    std::vector<pollfd> set{{signals_->descriptor(), POLLIN, 0}};
    children_.watch(set);
    auto const left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    poll(set.data(), set.size(), static_cast<int>(std::clamp(left, 0ms, children_.poll_timeout()).count()));
    handle_start_signals();
    children_.serve([&](Frame&& frame) { handle_start_frame(frame); },
                    [&](LostDaemon const& lost) { deferred_losses_.push_back(lost); });
}

/// Throws if a node is lost, naming all that are lost at nearly the same time.
void RootDaemon::throw_if_lost() {
    if (deferred_losses_.empty()) return;
    Clock::time_point const until = Clock::now() + further_losses_wait;
    while (Clock::now() < until) serve_start_once(until);
    std::string message;
    for (LostDaemon const& lost : deferred_losses_) message += (message.empty() ? "" : "; ") + lost.message;
    throw LaunchError(message, 1);
}

StartOrder RootDaemon::start_order(NodeFacts const& own, std::string const& tuning) {
    StartOrder order{{}, {}, {}, random_key(), tuning, job_name(), common_offer(own)};
    std::set<std::string> hosts;
    for (int node = 0; node < static_cast<int>(nodes_.size()); ++node) {
        NodeFacts const& facts = facts_of(node, own);
        order.names.push_back(facts.host);
        order.addresses.push_back(facts.addresses);
        order.ports.push_back(facts.ports);
        hosts.insert(facts.host);
    }
    // Names must distinguish nodes. If several nodes are on one host, or hosts have equal names, the names given by the
    // user are used.
    if (hosts.size() < nodes_.size()) order.names = allocation_.nodes;
    return order;
}

/// Returns the drawings of all nodes, each after the node's name.
std::string RootDaemon::drawings(NodeFacts const& own, StartOrder const& order) const {
    std::string all;
    for (int node = 0; node < static_cast<int>(nodes_.size()); ++node) {
        auto const index = static_cast<std::size_t>(node);
        std::string const& one = node == allocation_.local_node ? own.drawing : nodes_[index].facts->drawing;
        if (!one.empty()) all += join(all.empty() ? "" : "\n", "Node ", order.names[index], ", ", one);
    }
    return all;
}

ClusterInfo RootDaemon::exchange_facts(NodeFacts const& own, std::string const& tuning) {
    Clock::time_point const until = Clock::now() + start_limit_;
    bool const on_terminal = !job_.quiet && isatty(STDERR_FILENO) == 1;   // elsewhere, the error at the end suffices
    auto notice = on_terminal ? std::min(Clock::now() + 10s, until - start_limit_ / 2) : until;
    while (!awaited_nodes().empty()) {
        if (Clock::now() > until) throw start_timeout_error();
        if (Clock::now() > notice) {
            apps::print_error("mpiexec", "waiting for " + awaited_names() + "; see --start-timeout", 0);
            notice = until;
        }
        serve_start_once(std::min(until, notice));
        throw_if_lost();
    }
    StartOrder const order = start_order(own, tuning);
    ClusterInfo info = make_cluster_info(allocation_, std::max(0, allocation_.local_node), order);
    info.drawings = drawings(own, order);
    children_.send(FrameType::start, -1, packed(order));
    children_.enable_silence_check();
    return info;
}

void RootDaemon::watch(std::vector<pollfd>& set) const {
    children_.watch(set);
    for (auto const& [node, stream] : input_) stream.watch(set);
}

std::chrono::milliseconds RootDaemon::poll_timeout() const {
    auto wait = deferred_frames_.empty() && deferred_losses_.empty() ? children_.poll_timeout() : 0ms;
    for (auto const& [where, lines] : lines_) wait = std::min(wait, lines.poll_timeout());
    if (deadline_ && !all_done())
        wait = std::min(wait, std::max(0ms, std::chrono::ceil<std::chrono::milliseconds>(*deadline_ - Clock::now())));
    return wait;
}

void RootDaemon::request_clock(int node) { children_.send(FrameType::clock, node, packed(ClockAnswer{now_ns()})); }

void RootDaemon::serve(Supervisor& supervisor) {
    if (job_.traced() && !std::exchange(clocks_requested_, true))
        for (int node = 0; node < static_cast<int>(nodes_.size()); ++node)
            if (node != allocation_.local_node) request_clock(node);
    // Frames are handled only when all have been read: handling one may send a query, during which others arrive.
    children_.serve([&](Frame&& frame) { deferred_frames_.push_back(std::move(frame)); },
                    [&](LostDaemon const& lost) { deferred_losses_.push_back(lost); });
    for (Frame const& frame : std::exchange(deferred_frames_, {})) handle(frame, supervisor);
    for (LostDaemon const& lost : std::exchange(deferred_losses_, {})) on_lost(lost, supervisor);
    pump();
    for (auto& [where, lines] : lines_) lines.show_unfinished(Clock::now());
}

void RootDaemon::pump() {
    for (auto& [where, lines] : lines_) {
        if (std::uint64_t const bytes = lines.take_credit())
            children_.send(FrameType::window_update, where.first, packed(WindowUpdate{where.second, bytes}));
        if (lines.take_broken()) children_.send(FrameType::closed, where.first, packed(where.second));
    }
    for (auto& [node, stream] : input_) {
        bool const ended =
            stream.pump([&, to = node](std::string_view bytes) { children_.send(FrameType::input, to, bytes); });
        if (ended) children_.send(FrameType::input_end, node);
    }
}

void RootDaemon::add_output(Frame const& frame) {
    if (frame.type == FrameType::output) {
        auto const chunk = unpacked<OutputChunk>(frame.body);
        return lines_of(frame.node, chunk.stream).add(chunk.bytes);
    }
    auto notice = unpacked<AbortNotice>(frame.body);
    lines_of(frame.node, notice.stream).expect(std::move(notice.message));
}

IncomingLines& RootDaemon::lines_of(int node, int stream) {
    Sink& sink = stream == 2 ? output_->standard_error() : output_->standard_output();
    auto on_message = [this](Sink& where, RankAbortMessage const& message) { output_->add_message(where, message); };
    return lines_.try_emplace({node, stream == 2 ? 2 : 1}, sink, std::move(on_message)).first->second;
}

void RootDaemon::close_streams(int node) {
    for (auto& [where, lines] : lines_)
        if (where.first == node) lines.finish();
    input_.erase(node);
}

void RootDaemon::handle(Frame const& frame, Supervisor& supervisor) {
    RemoteNode& node = at(frame.node);
    switch (frame.type) {
    case FrameType::output:
    case FrameType::abort_notice: return add_output(frame);
    case FrameType::rank_exit: return supervisor.on_rank_exit(unpacked<RankExit>(frame.body));
    case FrameType::failed: {
        auto const exit = unpacked<RankExit>(frame.body);
        node.done = node.lost = true;
        close_streams(frame.node);
        if (exit.kind == RankExit::Kind::killed) return supervisor.lose_node(exit.message);
        return supervisor.end_job(exit.code, exit.message);
    }
    case FrameType::never_initialized: {
        auto const rank = unpacked<NeverInitialized>(frame.body);
        supervisor.on_never_initialized(rank);
        return report(rank);
    }
    case FrameType::node_update: return supervisor.add(unpacked<NodeUpdate>(frame.body));
    case FrameType::diagnostic: return supervisor.add(unpacked<Report>(frame.body));
    case FrameType::rank_states: return;   // arrived too late
    case FrameType::contribution:
        if (auto const result = exchange(unpacked<Contribution>(frame.body))) supervisor.complete(*result);
        return;
    case FrameType::window_update:
        if (input_.contains(frame.node)) input_.at(frame.node).add_credit(unpacked<WindowUpdate>(frame.body).bytes);
        return;
    case FrameType::closed: input_.erase(frame.node); return;
    case FrameType::counts: counts_.push_back(unpacked_counts(frame.body)); return;
    case FrameType::not_freed: not_freed_.add(unpacked<NotFreedCounts>(frame.body)); return;
    case FrameType::clock:
        if (clocks_.add_answer(frame.node, unpacked<ClockAnswer>(frame.body), now_ns())) request_clock(frame.node);
        return;
    case FrameType::machine: recording_.nodes.push_back(node_in(frame.body)); return;
    case FrameType::recording: recording_.ranks.push_back(recording_in(frame.body)); return;
    case FrameType::done: node.done = true; return close_streams(frame.node);
    default: fail(ErrorClass::other, "received a frame that only mpiexec sends");
    }
}

void RootDaemon::on_lost(LostDaemon const& lost, Supervisor& supervisor) {
    for (int node : lost.nodes) {
        at(node).done = at(node).lost = true;
        close_streams(node);
    }
    supervisor.lose_node(lost.message);
}

bool RootDaemon::all_done() const {
    for (int node = 0; node < static_cast<int>(nodes_.size()); ++node)
        if (node != allocation_.local_node && !nodes_[static_cast<std::size_t>(node)].done) return false;
    return true;
}

bool RootDaemon::running() const { return !all_done() && (!deadline_ || Clock::now() < *deadline_); }

void RootDaemon::report(NeverInitialized const& rank) {
    children_.send(FrameType::end_if_initialized, -1, packed(rank));
}

void RootDaemon::forward_signal(int signal) { children_.send(FrameType::signal, -1, packed(signal)); }

void RootDaemon::end_ranks() {
    if (deadline_) return;
    deadline_ = Clock::now() + end_timeout;
    children_.send(FrameType::end, -1);
}

}   // namespace tutti::launcher
