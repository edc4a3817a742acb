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
        "XDG_RUNTIME_DIR", "XDG_SESSION_ID", "SLURM_NODEID",   "SLURMD_NODENAME", "DBUS_SESSION_BUS_ADDRESS"};
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

/// Sets the variables of mpiexec. Variables that exist only on this node, or describe it, remain.
void take_over(std::vector<std::string> const& environment) {
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
    parent_.greet();
}

void Daemon::open_pipes() {
    Pipe out = Pipe::make(), error = Pipe::make(), in = Pipe::make();
    dup2(out.write.get(), STDOUT_FILENO);
    dup2(error.write.get(), STDERR_FILENO);
    dup2(in.read.get(), STDIN_FILENO);
    output_ = Outgoing(std::move(out.read));
    errors_ = Outgoing(std::move(error.read));
    input_ = IncomingBytes(std::move(in.write));
}

bool Daemon::receive() {
    while (part_.node < 0 && !gone_) wait_a_turn(nullptr);
    if (gone_) return false;
    open_pipes();
    take_over(assignment_.environment);
    silence_limit_ = std::chrono::seconds(variables_of(job()).silence);
    std::error_code error;
    std::filesystem::current_path(assignment_.folder, error);
    if (error && std::any_of(job().programs.begin(), job().programs.end(),
                             [](Program const& p) { return !p.directory.starts_with('/'); }))
        throw Complaint(
            join("the folder ", assignment_.folder, " cannot be entered: ", error.message(), " (-wdir names another)"),
            127);
    return true;
}

void Daemon::begin(OwnLauncher own) {
    own.output.tell_words_to([this](int stream, LastWords const& words) {
        up(FrameType::said, packed(Said{stream, words}));
    });
    parent_.keep_alive(heartbeats_.emplace());
    children_ = std::make_unique<Children>(job(), allocation());
    children_->start(part_.below, assignment_bytes_, own.guardian, own.signals.original_mask(), *heartbeats_);
}

World Daemon::meet(NodeFacts const& own, std::string const&) {
    up(FrameType::ready, packed(own));
    while (!start_ && !gone_ && !dismissed_) wait_a_turn(nullptr);
    if (!start_) throw Complaint("the job has ended before it began", 1);
    children_->judge_silence();
    return world_of(allocation(), part_.node, *start_);
}

void Daemon::wait_a_turn(Supervisor* supervisor) {
    std::vector<pollfd> set;
    watch(set);
    poll(set.data(), set.size(), static_cast<int>(patience().count()));
    turn(supervisor);
}

void Daemon::watch(std::vector<pollfd>& set) const {
    parent_.watch(set);
    if (children_) children_->watch(set);
    output_.watch(set);
    errors_.watch(set);
    input_.watch(set);
}

std::chrono::milliseconds Daemon::patience() const {
    auto const mine = gone_ ? 24h : std::chrono::duration_cast<std::chrono::milliseconds>(parent_.patience());
    return children_ ? std::min<std::chrono::milliseconds>(mine, children_->patience()) : mine;
}

void Daemon::serve(Supervisor& supervisor) { turn(&supervisor); }

void Daemon::turn(Supervisor* supervisor) {
    look_at_parent(supervisor);
    if (children_)
        children_->serve([&](Frame&& frame) { parent_.send(frame); },
                         [&](Children::Lost const& lost) {
                             parent_.send(FrameType::failed, lost.nodes[0],
                                          packed(Verdict{Verdict::Kind::killed, 1, lost.sentence}));
                             for (int node : lost.nodes) parent_.send(FrameType::done, node);
                         });
    pump();
}

void Daemon::look_at_parent(Supervisor* supervisor) {
    if (gone_) return;
    std::string bytes;
    bool const there = parent_.exchange(bytes);
    try {
        parent_.frames.add(bytes);
        while (std::optional<Frame> frame = parent_.frames.next()) {
            from_parent(*frame, supervisor);
            if (!supervisor && frame->type == FrameType::start) break;   // the supervisor handles the frames after it
        }
    } catch (Error const& error) { return leave(supervisor, error.what()); }
    parent_.look(Clock::now());
    bool const silent = !parent_stopped_ && parent_.silence() > silence_limit_;
    if (!there) leave(supervisor, {});
    else if (silent)
        leave(supervisor, join("nothing has come to it for ", silence_limit_.count(), " s (TUTTI_SILENCE)"));
}

/// Ends everything on this node and on the nodes below it. If the connection still exists, the parent gets the reason:
/// it may be alive, or resume later.
void Daemon::leave(Supervisor* supervisor, std::string const& reason) {
    if (!reason.empty() && part_.node >= 0)
        up(FrameType::failed,
           packed(Verdict{Verdict::Kind::killed, 1, join("node ", name(), " has left the job: ", reason)}));
    gone_ = true;
    parent_.close();
    output_.close();
    errors_.close();
    if (children_) children_->send(FrameType::end, -1);
    if (supervisor) supervisor->end_job(1, "");
}

void Daemon::from_parent(Frame const& frame, Supervisor* supervisor) {
    if (frame.type == FrameType::beat) return;   // a beat may have been sent just before the parent stopped
    parent_stopped_ = frame.type == FrameType::signal && unpacked<int>(frame.body) == SIGTSTP;
    bool const for_all = frame.node < 0;
    if (children_ && (for_all || frame.node != part_.node)) children_->send(frame.type, frame.node, frame.body);
    if (for_all || frame.node == part_.node || part_.node < 0) carry_out(frame, supervisor);
}

void Daemon::carry_out(Frame const& frame, Supervisor* supervisor) {
    switch (frame.type) {
    case FrameType::job: {
        Unpacker unpack(frame.body);
        unpack(part_);
        assignment_bytes_ = unpack.rest();
        assignment_ = unpacked<Assignment>(assignment_bytes_);
        assignment_.allocation.here = part_.node;
        assignment_.job.timeout = 0ms;   // mpiexec alone enforces the time limit
        return;
    }
    case FrameType::clock:
        return up(FrameType::clock, packed(ClockAnswer{unpacked<ClockAnswer>(frame.body).asked, now_ns()}));
    case FrameType::start: start_ = unpacked<StartOrder>(frame.body); return;
    case FrameType::signal:
        if (supervisor) supervisor->deliver(unpacked<int>(frame.body));
        return;
    case FrameType::quit: dismissed_ = true; [[fallthrough]];
    case FrameType::end:
        if (supervisor) return supervisor->end_job(1, "");
        dismissed_ = true;
        return;
    case FrameType::look:
        if (supervisor) supervisor->look_for_the_missing(unpacked<Missing>(frame.body));
        return;
    case FrameType::ask:
        if (supervisor) supervisor->ask(unpacked<Question>(frame.body));
        return;
    case FrameType::see: {
        auto const inquiry = unpacked<Inquiry>(frame.body);
        return up(FrameType::seen, packed(supervisor ? supervisor->see_here(inquiry) : RanksSeen{}));
    }
    case FrameType::input: return input_.add(frame.body);
    case FrameType::input_end: return input_.end();
    case FrameType::taken: {
        auto const taken = unpacked<Taken>(frame.body);
        return (taken.stream == 2 ? errors_ : output_).taken(taken.bytes);
    }
    case FrameType::closed: return (unpacked<int>(frame.body) == 2 ? errors_ : output_).close();
    default: tutti::fail(ErrorClass::other, "a message came that only a daemon sends");
    }
}

void Daemon::pump() {
    output_.pump([&](std::string_view bytes) { up(FrameType::output, packed(Chunk{1, std::string(bytes)})); });
    errors_.pump([&](std::string_view bytes) { up(FrameType::output, packed(Chunk{2, std::string(bytes)})); });
    if (std::uint64_t const bytes = input_.pump()) up(FrameType::taken, packed(Taken{0, bytes}));
    if (input_.broke()) up(FrameType::closed, packed(0));
}

bool Daemon::report(Verdict const& verdict) {
    pump();   // a rank's last message is sent first
    up(FrameType::verdict, packed(verdict));
    return true;
}

bool Daemon::report(NodeNews const& news) {
    up(FrameType::waits, packed(news));
    return true;
}

bool Daemon::report(Report const& mistake) {
    pump();   // what the ranks have printed is sent first
    up(FrameType::mistake, packed(mistake));
    return true;
}

void Daemon::report(Missing const& missing) { up(FrameType::missing, packed(missing)); }

void Daemon::fail(Complaint const& complaint) {
    pump();
    up(FrameType::failed,
       packed(Verdict{Verdict::Kind::failed, complaint.exit_code, join("on node ", name(), ": ", complaint.what())}));
    finish_when_dismissed(nullptr);
}

void Daemon::finish(Supervisor& supervisor, Segment const* segment) {
    while (!gone_ && !dismissed_ && !(output_.empty() && errors_.empty())) wait_a_turn(&supervisor);
    if (job().statistics && segment)
        for (RankCounts const& counts : counts_of(*segment))
            up(FrameType::counts, packed_counts(counts, static_cast<std::uint64_t>(now_ns())));
    if (segment) up(FrameType::not_freed, packed(not_freed_on(*segment)));
    if (job().traced() && segment) send_recording(*segment);
    up(FrameType::done);
    finish_when_dismissed(&supervisor);
}

void Daemon::send_recording(Segment const& segment) {
    RecordedNode node{part_.node, name(), {}, {}, {}, static_cast<int>(segment.header().usable_cores)};
    if (auto const map = topo::NodeMap::from_text(segment.machine())) {
        node.machine = map->machine;
        node.placement = map->placement;
    }
    for (unsigned place = 0; place < segment.ranks(); ++place)
        node.ranks.push_back(segment.rank_state(place).world_rank);
    up(FrameType::machine, packed_node(node));
    for (RankRecording const& one : read_traces(segment, job().traced_events, part_.node, name(), now_ns())) {
        up(FrameType::recording, packed_recording(one));
    }
}

void Daemon::finish_when_dismissed(Supervisor* supervisor) {
    while (!gone_ && !dismissed_) wait_a_turn(supervisor);
    part();
}

}   // namespace tutti::launcher
