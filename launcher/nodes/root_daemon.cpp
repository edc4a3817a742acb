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

constexpr auto for_ending = 1300ms;        // for daemons, from SIGTERM to their last frame
constexpr auto for_other_losses = 300ms;   // wait for further nodes that are lost at nearly the same time
constexpr auto for_answers = 2000ms;       // to an Inquiry: debug information of large programs takes time

std::string fresh_key() {
    std::string key(sizeof(JobKey), 0);
    for (std::size_t got = 0; got < key.size();) {
        ssize_t const n = getrandom(key.data() + got, key.size() - got, 0);
        if (n > 0) got += static_cast<std::size_t>(n);
        else if (errno != EINTR) throw Complaint("the system gives no random numbers for the job's key", 1);
    }
    return key;
}

}   // namespace

RootDaemon::RootDaemon(Job const& job, Allocation const& allocation)
    : job_(job), allocation_(allocation), start_limit_(variables_of(job).start_timeout), children_(job, allocation),
      nodes_(allocation.nodes.size()) {}

RootDaemon::RemoteNode& RootDaemon::at(int node) {
    if (node < 0 || node >= static_cast<int>(nodes_.size()) || node == allocation_.here)
        fail(ErrorClass::other, "what came names a node that is none of this job");
    return nodes_[static_cast<std::size_t>(node)];
}

std::vector<int> RootDaemon::readers() const {
    std::vector<int> nodes;
    if (job_.input.kind == InputTo::Kind::one)
        nodes.push_back(allocation_.node_of[static_cast<std::size_t>(job_.input.rank)]);
    else if (job_.input.kind == InputTo::Kind::all)
        for (int node = 0; node < static_cast<int>(nodes_.size()); ++node) nodes.push_back(node);
    std::erase(nodes, allocation_.here);
    return nodes;
}

void RootDaemon::begin(OwnLauncher own) {
    output_ = &own.output;
    signals_ = &own.signals;
    std::error_code error;
    Assignment assignment{job_, allocation_, std::filesystem::current_path(error), {}};
    if (error) throw Complaint(join("the current folder cannot be found: ", error.message()), 1);
    assignment.job.on_terminal = own.output.standard_output().terminal();
    for (char** entry = environ; *entry; ++entry) assignment.environment.emplace_back(*entry);
    std::vector<int> others;
    for (int node = 0; node < static_cast<int>(nodes_.size()); ++node)
        if (node != allocation_.here) others.push_back(node);
    children_.start(others, packed(assignment), own.guardian, own.signals.original_mask(), heartbeats_.emplace());
    if (job_.verbose) {
        std::string words;
        for (std::string const& word : agent_command(job_, "HOST")) words += " " + word;
        own.output.say(join("daemons for ", others.size(), " other nodes are started by:", words));
    }
    for (int node : others)
        if (Descriptor pipe = own.input.take_far(node)) input_.emplace(node, Outgoing(std::move(pipe)));
}

std::vector<int> RootDaemon::awaited_nodes() const {
    std::vector<int> awaited;
    for (int node = 0; node < static_cast<int>(nodes_.size()); ++node)
        if (node != allocation_.here && !nodes_[static_cast<std::size_t>(node)].facts) awaited.push_back(node);
    return awaited;
}

/// Returns "nodes h2, h3 and 5 more".
std::string RootDaemon::awaited_words() const {
    constexpr std::size_t most_names = 8;
    std::vector<int> const awaited = awaited_nodes();
    std::string words = awaited.size() == 1 ? "node " : "nodes ";
    for (std::size_t i = 0; i < std::min(awaited.size(), most_names); ++i)
        words += join(i == 0 ? "" : ", ", allocation_.nodes[static_cast<std::size_t>(awaited[i])]);
    return awaited.size() > most_names ? join(words, " and ", awaited.size() - most_names, " more") : words;
}

// If the daemon that mpiexec has started for a branch has not sent its handshake, that node is the cause. A node behind
// a daemon is only known to be missing.
Complaint RootDaemon::nobody_answers() const {
    std::vector<int> const awaited = awaited_nodes();
    std::string sentence =
        join("node ", allocation_.nodes[static_cast<std::size_t>(awaited.front())], " has not answered within ",
             start_limit_.count(), " s (TUTTI_START_TIMEOUT); ", children_.words_about(awaited.front()));
    for (int node : std::span(awaited).subspan(1))
        sentence += join("; nor has node ", allocation_.nodes[static_cast<std::size_t>(node)]);
    return Complaint(sentence, 1);
}

void RootDaemon::hear_signals() {
    while (std::optional<int> signal = signals_->next()) {
        if (*signal == SIGCHLD) {
            int status = 0;
            for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) children_.buried(pid, status);
        } else if (*signal == SIGTSTP) {
            raise(SIGSTOP);
        } else if (*signal != SIGCONT && *signal != SIGUSR1 && *signal != SIGUSR2) {
            throw Complaint(join("ended by ", signal_words(*signal), " while mpiexec waited for ", awaited_words()),
                            128 + *signal);
        }
    }
}

void RootDaemon::start_frame(Frame const& frame) {
    RemoteNode& node = at(frame.node);
    if (frame.type == FrameType::ready) node.facts = unpacked<NodeFacts>(frame.body);
    if (frame.type == FrameType::output || frame.type == FrameType::said) take_output(frame);
    if (frame.type == FrameType::failed) {
        auto const verdict = unpacked<Verdict>(frame.body);
        if (verdict.kind != Verdict::Kind::killed) throw Complaint(verdict.sentence, verdict.code);
        lost_later_.push_back({{frame.node}, verdict.sentence});
    }
}

void RootDaemon::start_turn(Clock::time_point until) {
    std::vector<pollfd> set{{signals_->descriptor(), POLLIN, 0}};
    children_.watch(set);
    auto const left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    poll(set.data(), set.size(), static_cast<int>(std::clamp(left, 0ms, children_.patience()).count()));
    hear_signals();
    children_.serve([&](Frame&& frame) { start_frame(frame); },
                    [&](Children::Lost const& lost) { lost_later_.push_back(lost); });
}

/// Throws if a node is lost, naming all that are lost at nearly the same time.
void RootDaemon::gather_lost() {
    if (lost_later_.empty()) return;
    Clock::time_point const until = Clock::now() + for_other_losses;
    while (Clock::now() < until) start_turn(until);
    std::string sentence;
    for (Children::Lost const& lost : lost_later_) sentence += (sentence.empty() ? "" : "; ") + lost.sentence;
    throw Complaint(sentence, 1);
}

StartOrder RootDaemon::start_order(NodeFacts const& own, std::string const& tuning) {
    StartOrder order{{}, {}, {}, fresh_key(), tuning};
    std::set<std::string> hosts;
    for (int node = 0; node < static_cast<int>(nodes_.size()); ++node) {
        NodeFacts const& facts = node == allocation_.here ? own : *nodes_[static_cast<std::size_t>(node)].facts;
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
        std::string const& one = node == allocation_.here ? own.drawing : nodes_[index].facts->drawing;
        if (!one.empty()) all += join(all.empty() ? "" : "\n", "Node ", order.names[index], ", ", one);
    }
    return all;
}

World RootDaemon::meet(NodeFacts const& own, std::string const& tuning) {
    Clock::time_point const until = Clock::now() + start_limit_;
    while (!awaited_nodes().empty()) {
        if (Clock::now() > until) throw nobody_answers();
        start_turn(until);
        gather_lost();
    }
    StartOrder const order = start_order(own, tuning);
    World world = world_of(allocation_, std::max(0, allocation_.here), order);
    world.drawings = drawings(own, order);
    children_.send(FrameType::start, -1, packed(order));
    children_.judge_silence();
    return world;
}

void RootDaemon::watch(std::vector<pollfd>& set) const {
    children_.watch(set);
    for (auto const& [node, stream] : input_) stream.watch(set);
}

std::chrono::milliseconds RootDaemon::patience() const {
    auto wait = later_.empty() && lost_later_.empty() ? children_.patience() : 0ms;
    for (auto const& [where, lines] : lines_) wait = std::min(wait, lines.patience());
    if (end_by_ && !all_done())
        wait = std::min(wait, std::max(0ms, std::chrono::ceil<std::chrono::milliseconds>(*end_by_ - Clock::now())));
    return wait;
}

void RootDaemon::ask_clock(int node) { children_.send(FrameType::clock, node, packed(ClockAnswer{now_ns()})); }

void RootDaemon::serve(Supervisor& supervisor) {
    if (job_.traced() && !std::exchange(clocks_asked_, true))
        for (int node = 0; node < static_cast<int>(nodes_.size()); ++node)
            if (node != allocation_.here) ask_clock(node);
    // Frames are handled only when all have been read: handling one may send an inquiry, during which others arrive.
    children_.serve([&](Frame&& frame) { later_.push_back(std::move(frame)); },
                    [&](Children::Lost const& lost) { lost_later_.push_back(lost); });
    for (Frame const& frame : std::exchange(later_, {})) handle(frame, supervisor);
    for (Children::Lost const& lost : std::exchange(lost_later_, {})) lose(lost, supervisor);
    pump();
    for (auto& [where, lines] : lines_) lines.show_unfinished(Clock::now());
}

void RootDaemon::pump() {
    for (auto& [where, lines] : lines_) {
        if (std::uint64_t const bytes = lines.take_room())
            children_.send(FrameType::taken, where.first, packed(Taken{where.second, bytes}));
        if (lines.broke()) children_.send(FrameType::closed, where.first, packed(where.second));
    }
    for (auto& [node, stream] : input_) {
        bool const ended =
            stream.pump([&, to = node](std::string_view bytes) { children_.send(FrameType::input, to, bytes); });
        if (ended) children_.send(FrameType::input_end, node);
    }
}

void RootDaemon::take_output(Frame const& frame) {
    if (frame.type == FrameType::output) {
        auto const chunk = unpacked<Chunk>(frame.body);
        return lines_of(frame.node, chunk.stream).add(chunk.bytes);
    }
    auto said = unpacked<Said>(frame.body);
    lines_of(frame.node, said.stream).expect(std::move(said.words));
}

void RootDaemon::take_seen(Frame const& frame) {
    at(frame.node).answered = true;
    auto seen = unpacked<RanksSeen>(frame.body);
    std::ranges::move(seen.waiting, std::back_inserter(seen_.waiting));
    std::ranges::move(seen.unblocked, std::back_inserter(seen_.unblocked));
    std::ranges::move(seen.calls, std::back_inserter(seen_.calls));
}

IncomingLines& RootDaemon::lines_of(int node, int stream) {
    Sink& sink = stream == 2 ? output_->standard_error() : output_->standard_output();
    auto when_said = [this](Sink& where, LastWords const& words) { output_->hold(where, words); };
    return lines_.try_emplace({node, stream == 2 ? 2 : 1}, sink, std::move(when_said)).first->second;
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
    case FrameType::said: return take_output(frame);
    case FrameType::verdict: return supervisor.conclude(unpacked<Verdict>(frame.body));
    case FrameType::failed: {
        auto const verdict = unpacked<Verdict>(frame.body);
        node.done = node.lost = true;
        close_streams(frame.node);
        if (verdict.kind == Verdict::Kind::killed) return supervisor.lose_node(verdict.sentence);
        return supervisor.end_job(verdict.code, verdict.sentence);
    }
    case FrameType::missing: {
        auto const missing = unpacked<Missing>(frame.body);
        supervisor.look_for_the_missing(missing);
        return report(missing);
    }
    case FrameType::waits: return supervisor.hear(unpacked<NodeNews>(frame.body));
    case FrameType::mistake: return supervisor.hear(unpacked<Report>(frame.body));
    case FrameType::seen: return;   // arrived too late
    case FrameType::taken:
        if (auto to = input_.find(frame.node); to != input_.end()) to->second.taken(unpacked<Taken>(frame.body).bytes);
        return;
    case FrameType::closed: input_.erase(frame.node); return;
    case FrameType::counts: counts_.push_back(copy_of_counts(frame.body)); return;
    case FrameType::not_freed: not_freed_.add(unpacked<NotFreedCounts>(frame.body)); return;
    case FrameType::clock:
        if (clocks_.hear(frame.node, unpacked<ClockAnswer>(frame.body), now_ns())) ask_clock(frame.node);
        return;
    case FrameType::machine: recorded_.nodes.push_back(node_in(frame.body)); return;
    case FrameType::recording: recorded_.ranks.push_back(recording_in(frame.body)); return;
    case FrameType::done: node.done = true; return close_streams(frame.node);
    default: fail(ErrorClass::other, "a message came that only mpiexec sends");
    }
}

void RootDaemon::lose(Children::Lost const& lost, Supervisor& supervisor) {
    for (int node : lost.nodes) {
        at(node).done = at(node).lost = true;
        close_streams(node);
    }
    supervisor.lose_node(lost.sentence);
}

bool RootDaemon::all_done() const {
    for (int node = 0; node < static_cast<int>(nodes_.size()); ++node)
        if (node != allocation_.here && !nodes_[static_cast<std::size_t>(node)].done) return false;
    return true;
}

bool RootDaemon::running() const { return !all_done() && (!end_by_ || Clock::now() < *end_by_); }

void RootDaemon::report(Missing const& missing) { children_.send(FrameType::look, -1, packed(missing)); }

void RootDaemon::pass_on(int signal) { children_.send(FrameType::signal, -1, packed(signal)); }

void RootDaemon::end() {
    if (end_by_) return;
    end_by_ = Clock::now() + for_ending;
    children_.send(FrameType::end, -1);
}

bool RootDaemon::ask(int node, Question const& question) {
    if (node == allocation_.here) return false;
    children_.send(FrameType::ask, node, packed(question));
    return true;
}

/// Waits for the answers of all nodes. Handles output and answers meanwhile; other frames are handled afterwards.
RanksSeen RootDaemon::see(Inquiry const& inquiry) {
    seen_ = {};
    for (RemoteNode& node : nodes_) node.answered = node.lost;
    children_.send(FrameType::see, -1, packed(inquiry));
    Clock::time_point const until = Clock::now() + for_answers;
    auto const silent = [&](int node) {
        return node != allocation_.here && !nodes_[static_cast<std::size_t>(node)].answered;
    };
    auto const waiting = [&] { return std::ranges::any_of(node_of(), silent); };
    while (waiting() && Clock::now() < until) {
        std::vector<pollfd> set;
        children_.watch(set);
        poll(set.data(), set.size(), 20);
        children_.serve(
            [&](Frame&& frame) {
                if (frame.type == FrameType::output || frame.type == FrameType::said) return take_output(frame);
                if (frame.type == FrameType::seen) return take_seen(frame);
                later_.push_back(std::move(frame));
            },
            [&](Children::Lost const& lost) {
                for (int node : lost.nodes) at(node).answered = true;
                lost_later_.push_back(lost);
            });
    }
    for (int rank = 0; inquiry.unblocked && rank < static_cast<int>(node_of().size()); ++rank)
        if (silent(node_of()[static_cast<std::size_t>(rank)]))
            seen_.unblocked.push_back({.rank = rank, .doing = UnblockedRank::Doing::no_answer});
    return std::move(seen_);
}

void RootDaemon::finish(Supervisor&, Segment const*) { children_.dismiss(); }

AllRankCounts RootDaemon::with_others(AllRankCounts own) {
    for (auto const& copy : counts_) own.push_back(copy->counts());
    std::ranges::sort(own, {}, &RankCounts::rank);
    return own;
}

NotFreedCounts RootDaemon::with_others(NotFreedCounts own) {
    own.add(not_freed_);
    return own;
}

Recording RootDaemon::with_others(Recording own) {
    for (RankRecording& one : recorded_.ranks) {
        clocks_.adjust(one);
        own.ranks.push_back(std::move(one));
    }
    for (RecordedNode& one : recorded_.nodes) own.nodes.push_back(std::move(one));
    return own;
}

}   // namespace tutti::launcher
