// SPDX-License-Identifier: BSD-3-Clause
// A daemon between its parent, its ranks and its children.
#include "launcher/nodes/daemon.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <unistd.h>

#include "launcher/nodes/messages.hpp"
#include "launcher/nodes/node_data.hpp"
#include "launcher/placement/placement.hpp"
#include "launcher/report/recording.hpp"
#include "launcher/supervise/signals.hpp"
#include "launcher/supervise/supervisor.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/base/error.hpp"

namespace tutti::launcher {
namespace {

using namespace std::chrono_literals;

Descriptor moved(int descriptor) { return Descriptor(fcntl(descriptor, F_DUPFD_CLOEXEC, 3)); }

/// Returns true for variables that describe one login on one node, and would be wrong on another node.
bool belongs_to_a_node(std::string_view name) {
    constexpr std::string_view names[] = {
        "HOSTNAME",        "SSH_CLIENT",     "SSH_CONNECTION", "SSH_TTY",         "SSH_AUTH_SOCK",
        "XDG_RUNTIME_DIR", "XDG_SESSION_ID", "SLURM_NODEID",   "SLURMD_NODENAME", "DBUS_SESSION_BUS_ADDRESS",
        "FLUX_URI"};
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

/// Sets the variables of mpiexec. Variables that exist only on this node, or describe it, remain.
void adopt_environment(std::vector<std::string> const& environment) {
    for (std::string const& entry : environment) {
        std::size_t const equals = entry.find('=');
        if (equals == std::string::npos || equals == 0 || belongs_to_a_node(entry.substr(0, equals))) continue;
        setenv(entry.substr(0, equals).c_str(), entry.c_str() + equals + 1, 1);
    }
}

}   // namespace

Daemon::Daemon() {
    // A process group of its own: signals for the agent's group must not reach the daemon. Not a session of its own:
    // the kernel schedules each session as a group (sched_autogroup), and ranks of nodes that share a machine could not
    // yield their core to each other.
    setpgid(0, 0);
    parent_ = Link(moved(STDIN_FILENO), moved(STDOUT_FILENO));
    int const nothing = open("/dev/null", O_RDWR);
    for (int number : {STDIN_FILENO, STDOUT_FILENO}) dup2(nothing, number);
    if (nothing > STDERR_FILENO) close(nothing);
    parent_.send_handshake();
}

void Daemon::open_pipes() {
    Pipe out = Pipe::make(), error = Pipe::make(), in = Pipe::make();
    dup2(out.write.get(), STDOUT_FILENO);
    dup2(error.write.get(), STDERR_FILENO);
    dup2(in.read.get(), STDIN_FILENO);
    output_ = OutgoingStream(std::move(out.read));
    errors_ = OutgoingStream(std::move(error.read));
    input_ = IncomingBytes(std::move(in.write));
}

bool Daemon::receive() {
    while (subtree_.node < 0 && !parent_gone_) poll_once(nullptr);
    if (parent_gone_) return false;
    open_pipes();
    adopt_environment(assignment_.environment);
    silence_limit_ = std::chrono::seconds(variables_of(job()).silence);
    std::error_code error;
    std::filesystem::current_path(assignment_.folder, error);
    if (error && std::any_of(job().programs.begin(), job().programs.end(),
                             [](Program const& p) { return !p.directory.starts_with('/'); }))
        throw LaunchError(join("the folder ", assignment_.folder, " cannot be entered: ", error.message(),
                               " (-wdir selects another one)"),
                          127);
    return true;
}

void Daemon::start_daemons(LauncherObjects objects) {
    objects.output.forward_messages_to([this](int stream, RankAbortMessage const& message) {
        send_to_parent(FrameType::abort_notice, packed(AbortNotice{stream, message}));
    });
    parent_.keep_alive(heartbeats_.emplace());
    children_ = std::make_unique<ChildDaemons>(job(), allocation());
    children_->on_retry = [this, &output = objects.output](std::string const& why) {
        output.print_message(join("on node ", name(), ": ", why));
    };
    children_->start(subtree_.descendants, assignment_bytes_, objects.guardian, objects.signals.original_mask(),
                     *heartbeats_);
}

ClusterInfo Daemon::exchange_facts(NodeFacts const& own, std::string const&) {
    send_to_parent(FrameType::ready, packed(own));
    while (!start_ && !parent_gone_ && !dismissed_) poll_once(nullptr);
    if (!start_) throw LaunchError("the job ended before its ranks were started", 1);
    children_->enable_silence_check();
    return make_cluster_info(allocation(), subtree_.node, *start_);
}

void Daemon::poll_once(Supervisor* supervisor) {
    std::vector<pollfd> set;
    watch(set);
    poll(set.data(), set.size(), static_cast<int>(poll_timeout().count()));
    serve_once(supervisor);
}

void Daemon::watch(std::vector<pollfd>& set) const {
    parent_.watch(set);
    if (children_) children_->watch(set);
    output_.watch(set);
    errors_.watch(set);
    input_.watch(set);
}

std::chrono::milliseconds Daemon::poll_timeout() const {
    auto const timeout =
        parent_gone_ ? 24h : std::chrono::duration_cast<std::chrono::milliseconds>(parent_.poll_timeout());
    return children_ ? std::min<std::chrono::milliseconds>(timeout, children_->poll_timeout()) : timeout;
}

void Daemon::serve(Supervisor& supervisor) { serve_once(&supervisor); }

void Daemon::serve_once(Supervisor* supervisor) {
    serve_parent(supervisor);
    if (children_ && !supervisor) children_->reap_agents();   // later, the supervisor waits for all children
    if (children_)
        children_->serve([&](Frame&& frame) { parent_.send(frame); },
                         [&](ChildDaemons::LostDaemon const& lost) {
                             parent_.send(FrameType::failed, lost.nodes[0],
                                          packed(RankExit{RankExit::Kind::killed, 1, lost.message}));
                             for (int node : lost.nodes) parent_.send(FrameType::done, node);
                         });
    pump();
}

void Daemon::serve_parent(Supervisor* supervisor) {
    if (parent_gone_) return;
    std::string bytes;
    bool const connected = parent_.exchange(bytes);
    try {
        parent_.frames.add(bytes);
        while (std::optional<Frame> frame = parent_.frames.next()) {
            handle_parent_frame(*frame, supervisor);
            if (!supervisor && frame->type == FrameType::start) break;   // the supervisor handles the frames after it
        }
    } catch (Error const& error) { return leave_job(supervisor, error.what()); }
    parent_.update_silence(Clock::now());
    bool const silent = !parent_stopped_ && parent_.silence() > silence_limit_;
    if (!connected) leave_job(supervisor, {});
    else if (silent)
        leave_job(supervisor, join("it received nothing for ", silence_limit_.count(), " s (TUTTI_SILENCE)"));
}

/// Ends everything on this node and on the nodes below it. If the connection still exists, the parent gets the reason:
/// it may be alive, or resume later.
void Daemon::leave_job(Supervisor* supervisor, std::string const& reason) {
    if (!reason.empty() && subtree_.node >= 0)
        send_to_parent(FrameType::failed, packed(RankExit{RankExit::Kind::killed, 1,
                                                          join("node ", name(), " has left the job: ", reason)}));
    parent_gone_ = true;
    parent_.close();
    output_.close();
    errors_.close();
    if (children_) children_->send(FrameType::end, -1);
    if (supervisor) supervisor->end_job(1, "");
}

void Daemon::handle_parent_frame(Frame const& frame, Supervisor* supervisor) {
    if (frame.type == FrameType::beat) return;   // a beat may have been sent just before the parent stopped
    parent_stopped_ = frame.type == FrameType::signal && unpacked<int>(frame.body) == SIGTSTP;
    bool const for_all = frame.node < 0;
    if (children_ && (for_all || frame.node != subtree_.node)) children_->send(frame.type, frame.node, frame.body);
    if (for_all || frame.node == subtree_.node || subtree_.node < 0) execute(frame, supervisor);
}

void Daemon::execute(Frame const& frame, Supervisor* supervisor) {
    switch (frame.type) {
    case FrameType::job: {
        Unpacker unpack(frame.body);
        unpack(subtree_);
        assignment_bytes_ = unpack.rest();
        assignment_ = unpacked<Assignment>(assignment_bytes_);
        assignment_.allocation.local_node = subtree_.node;
        assignment_.job.timeout = 0ms;   // mpiexec alone enforces the time limit
        return;
    }
    case FrameType::clock:
        return send_to_parent(FrameType::clock,
                              packed(ClockAnswer{unpacked<ClockAnswer>(frame.body).query_time, now_ns()}));
    case FrameType::start: start_ = unpacked<StartOrder>(frame.body); return;
    case FrameType::signal:
        if (supervisor) supervisor->deliver(unpacked<int>(frame.body));
        return;
    case FrameType::quit: dismissed_ = true; [[fallthrough]];
    case FrameType::end:
        if (supervisor) return supervisor->end_job(1, "");
        dismissed_ = true;
        return;
    case FrameType::end_if_initialized:
        if (supervisor) supervisor->on_never_initialized(unpacked<NeverInitialized>(frame.body));
        return;
    case FrameType::wait_query:
        if (supervisor) supervisor->query_waits(unpacked<WaitQuery>(frame.body));
        return;
    case FrameType::rank_query: {
        auto const query = unpacked<RankQuery>(frame.body);
        return send_to_parent(FrameType::rank_states,
                              packed(supervisor ? supervisor->query_local_ranks(query) : RankStates{}));
    }
    case FrameType::exchanged:
        if (supervisor) supervisor->complete(unpacked<Exchanged>(frame.body));
        return;
    case FrameType::input: return input_.add(frame.body);
    case FrameType::input_end: return input_.end();
    case FrameType::window_update: {
        auto const update = unpacked<WindowUpdate>(frame.body);
        return (update.stream == 2 ? errors_ : output_).add_credit(update.bytes);
    }
    case FrameType::closed: return (unpacked<int>(frame.body) == 2 ? errors_ : output_).close();
    default: tutti::fail(ErrorClass::other, "received a frame that only a daemon sends");
    }
}

void Daemon::pump() {
    output_.pump([&](std::string_view bytes) {
        send_to_parent(FrameType::output, packed(OutputChunk{1, std::string(bytes)}));
    });
    errors_.pump([&](std::string_view bytes) {
        send_to_parent(FrameType::output, packed(OutputChunk{2, std::string(bytes)}));
    });
    if (std::uint64_t const bytes = input_.pump())
        send_to_parent(FrameType::window_update, packed(WindowUpdate{0, bytes}));
    if (input_.take_broken()) send_to_parent(FrameType::closed, packed(0));
}

bool Daemon::report(RankExit const& exit) {
    pump();   // a rank's last message is sent first
    send_to_parent(FrameType::rank_exit, packed(exit));
    return true;
}

bool Daemon::report(NodeUpdate const& update) {
    send_to_parent(FrameType::node_update, packed(update));
    return true;
}

bool Daemon::report(Report const& error) {
    pump();   // what the ranks have printed is sent first
    send_to_parent(FrameType::diagnostic, packed(error));
    return true;
}

void Daemon::report(NeverInitialized const& rank) { send_to_parent(FrameType::never_initialized, packed(rank)); }

std::optional<Exchanged> Daemon::exchange(Contribution const& part) {
    send_to_parent(FrameType::contribution, packed(part));
    return {};
}

void Daemon::fail(LaunchError const& error) {
    pump();
    send_to_parent(FrameType::failed, packed(RankExit{RankExit::Kind::failed, error.exit_code,
                                                      join("on node ", name(), ": ", error.what())}));
    finish_when_dismissed(nullptr);
}

void Daemon::finish(Supervisor& supervisor, Segment const* segment) {
    while (!parent_gone_ && !dismissed_ && !(output_.empty() && errors_.empty())) poll_once(&supervisor);
    if (job().statistics && segment)
        for (RankCounts const& counts : counts_of(*segment))
            send_to_parent(FrameType::counts, packed_counts(counts, static_cast<std::uint64_t>(now_ns())));
    if (segment) send_to_parent(FrameType::not_freed, packed(not_freed_on(*segment)));
    if (job().traced() && segment) send_recording(*segment);
    send_to_parent(FrameType::done);
    finish_when_dismissed(&supervisor);
}

void Daemon::send_recording(Segment const& segment) {
    RecordedNode node{subtree_.node, name(), {}, {}, {}, static_cast<int>(segment.header().usable_cores)};
    if (auto const map = topo::NodeMap::from_text(segment.machine())) {
        node.machine = map->machine;
        node.placement = map->placement;
    }
    for (unsigned local_rank = 0; local_rank < segment.ranks(); ++local_rank)
        node.ranks.push_back(segment.rank_state(local_rank).world_rank);
    send_to_parent(FrameType::machine, packed_node(node));
    for (RankRecording const& one : read_traces(segment, job().traced_events, subtree_.node, name(), now_ns())) {
        send_to_parent(FrameType::recording, packed_recording(one));
    }
}

void Daemon::finish_when_dismissed(Supervisor* supervisor) {
    while (!parent_gone_ && !dismissed_) poll_once(supervisor);
    shut_down_daemons();
}

}   // namespace tutti::launcher
