// SPDX-License-Identifier: BSD-3-Clause
// Supervisor: finding and reporting deadlocks, errors, and what ranks of this and other nodes wait for.
#include <algorithm>
#include <iterator>

#include <unistd.h>

#include "apps/terminal.hpp"
#include "launcher/base/proc.hpp"
#include "launcher/base/text.hpp"
#include "launcher/diagnosis/process_stack.hpp"
#include "launcher/diagnosis/report.hpp"
#include "launcher/placement/placement.hpp"
#include "launcher/supervise/guardian.hpp"
#include "launcher/supervise/supervisor.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/base/error.hpp"
#include "runtime/base/process_identity.hpp"
#include "runtime/settings/launch.hpp"

namespace tutti::launcher {
namespace {

constexpr std::size_t max_stacks = 64;   // per node: each takes some milliseconds

std::chrono::seconds polling_limit(Job const& job) { return std::chrono::seconds(variables_of(job).polling_limit); }

}   // namespace

// In a job on several nodes every rank counts as alive: messages of a rank that has just died may still be in the
// network, but not those of a rank that has called MPI_Finalize.
void Supervisor::enable_diagnosis() {
    auto const alive = [this](unsigned local_rank) {
        return other_nodes_ || local_rank >= ranks_.size() || ranks_[local_rank].alive;
    };
    if (segment_) node_monitor_.emplace(*segment_, alive);
    auto const may_act = [this](unsigned local_rank) { return local_rank < ranks_.size() && ranks_[local_rank].alive; };
    if (segment_) stall_detector_.emplace(*segment_, may_act, polling_limit(job_));
    auto const send_query = [this](int node, WaitQuery const& query) {
        if (!other_nodes_ || !other_nodes_->query_waits(node, query)) query_waits(query);
    };
    if (!other_nodes_ && segment_) deadlocks_.emplace(std::vector<int>(segment_->layout().world_size), send_query);
    else if (other_nodes_ && other_nodes_->is_root()) deadlocks_.emplace(other_nodes_->node_of(), send_query);
}

Supervisor::Clock::time_point Supervisor::next_diagnosis() const {
    Clock::time_point due = Clock::now() + std::chrono::hours(24);
    if (node_monitor_) due = std::min(due, node_monitor_->due());
    if (deadlocks_) due = std::min(due, deadlocks_->due());
    return due;
}

void Supervisor::check_for_deadlock(Clock::time_point now) {
    if (node_monitor_ && now >= node_monitor_->due()) {
        for (Report& report : node_ranks_->take_diagnostics(now)) add(std::move(report));
        if (!node_monitor_) return;
        NodeUpdate update = node_monitor_->collect_update(now);
        if (all_started_) update.stall = stall_detector_->check(now, now_ns());
        if (!update.empty() && !(other_nodes_ && other_nodes_->report(update))) add(update);
    }
    if (!deadlocks_) return;
    if (std::optional<ProvenDeadlock> found = deadlocks_->check(now)) end_with(std::move(*found));
}

void Supervisor::add(Report report) {
    if (report.severity == Report::Severity::error) return end_with(std::move(report));
    if (other_nodes_ && other_nodes_->report(report)) return;
    add_positions(report);
    warnings_.add(report);
}

void Supervisor::add(NodeUpdate const& update) {
    if (!deadlocks_) return;
    deadlocks_->add(update);
    stall_ += update.stall;
    if (!(update.stall == StallState{})) check_for_stall();
}

/// Prints a notice that does not end the job: whether polling ranks also do other things is unknown.
void Supervisor::check_for_stall() {
    std::set<int> nodes{0};
    if (other_nodes_) nodes = {other_nodes_->node_of().begin(), other_nodes_->node_of().end()};
    if (stall_reported_ || job_.quiet || stall_.polling == 0 || stall_.nodes < static_cast<int>(nodes.size())) return;
    stall_reported_ = true;
    print_report(make_stall_report(query_ranks({}).waiting, polling_limit(job_)));
}

void Supervisor::query_waits(WaitQuery const& query) {
    if (node_monitor_) node_monitor_->start_query(query);
}

/// Asks for the remaining data that the ranks publish, then reports the deadlock.
void Supervisor::end_with(ProvenDeadlock deadlock) {
    std::vector<int> ranks;
    for (BlockedRank const& one : deadlock.blocked) ranks.push_back(one.rank);
    deadlock.complete(query_ranks({ranks}).waiting);
    end_with(make_report(deadlock, variables_of(job_).diagnosis == "full"));
}

void Supervisor::end_with(Report report) {
    if (ending_ || (!node_monitor_ && !deadlocks_)) return;
    node_monitor_.reset();
    deadlocks_.reset();
    if (other_nodes_ && other_nodes_->report(report)) return;
    add_positions(report);
    if (job_.keep_on_deadlock)
        report.notes.push_back(
            join("the job is kept for a debugger (gdb -p PROCESS): ", processes_of_ranks(), "; Ctrl-C ends the job"));
    print_report(report);
    if (!job_.keep_on_deadlock) end_job(launch::program_error_code, "");
}

/// Returns the process numbers of the first ranks of this node, for a note.
std::string Supervisor::processes_of_ranks() const {
    constexpr std::size_t most = 4;
    std::string text;
    for (std::size_t i = 0; i < std::min(most, ranks_.size()); ++i)
        text += join(i == 0 ? "" : ", ", "rank ", world_rank(i), " is process ", process_at(i));
    return ranks_.size() > most ? text + ", … (mpiexec -v prints all)" : text;
}

/// Returns the process of the rank that is in MPI, which a script or a container may have started; 0 if it cannot be
/// seen from here.
pid_t Supervisor::process_at(std::size_t local_rank) const {
    RankState const& rank_state = segment_->rank_state(static_cast<unsigned>(local_rank));
    pid_t const started = ranks_[local_rank].pid, in_mpi = rank_state.pid.load();
    std::uint64_t const space = rank_state.pid_namespace.load();
    if (in_mpi == 0) return started;
    if (same_pid_namespace(pid_namespace(), space) && getpgid(in_mpi) == started) return in_mpi;
    return find_descendant(started, in_mpi, space);
}

/// Prints the report after what the ranks have printed so far.
void Supervisor::print_report(Report const& report) {
    reports_.push_back(report);
    output_.collect();
    output_.print(job_.json_messages ? json_of(report)
                                     : text_of(report, apps::has_colours(output_.standard_error().terminal())));
}

/// Prints the warnings. Called once, when all ranks have ended and printed.
void Supervisor::print_warnings() {
    if (!job_.quiet)
        for (Report const& report : warnings_.all()) print_report(report);
}

/// Returns the site of a rank's last call, if its name matches `call`; otherwise nothing. Used if the rank that found
/// an error does not know the position: usually it is that of the last call.
static std::vector<std::uint64_t> site_of_last(LastCall const& last, std::string_view call) {
    std::string const name = last.function.name();
    bool const is_same = !name.empty() && call.starts_with(name + "("),
               sends = call.starts_with("send of ") && name.find("end") != name.npos;
    if (!is_same && !sends) return {};
    return {reinterpret_cast<std::uintptr_t>(last.site)};
}

RankStates Supervisor::query_local_ranks(RankQuery const& query) const {
    RankStates states;
    for (LocatedCall const& call : query.calls) {
        RankState const* const state = state_of(call.rank);
        if (!state) continue;
        LocatedCall at = call;
        if (at.stack.empty()) at.stack = site_of_last(state->last_call, call.call);
        states.calls.push_back(call);
        states.calls.back().position = node_ranks_->position_of(at);
    }
    if (!query.calls.empty()) return states;
    std::vector<std::size_t> unblocked;
    for (std::size_t local_rank = 0; local_rank < ranks_.size(); ++local_rank) {
        bool const all = query.ranks.empty();
        if (!ranks_[local_rank].alive ||
            (!all && std::ranges::find(query.ranks, world_rank(local_rank)) == query.ranks.end()))
            continue;
        if (auto one = node_ranks_->waiting_rank(static_cast<unsigned>(local_rank), all))
            states.waiting.push_back(std::move(*one));
        else if (query.unblocked) unblocked.push_back(local_rank);
    }
    std::vector<pid_t> processes;
    for (std::size_t local_rank : unblocked) {
        bool const in_mpi = segment_->rank_state(static_cast<unsigned>(local_rank)).pid.load() != 0;
        processes.push_back(in_mpi ? process_at(local_rank) : working_descendant(ranks_[local_rank].pid));
    }
    std::vector<ProcessStack> const stacks = stacks_of(processes, max_stacks);
    for (std::size_t i = 0; i < unblocked.size(); ++i) {
        RankState const& rank_state = segment_->rank_state(static_cast<unsigned>(unblocked[i]));
        UnblockedRank one = unblocked_rank(rank_state, processes[i], stacks[i], node_ranks_->line_cache());
        one.rank = world_rank(unblocked[i]);
        if (rank_state.pid.load() == 0 && processes[i] != ranks_[unblocked[i]].pid)
            one.now = running_process(processes[i]) + (one.now.empty() ? "" : " ") + one.now;
        states.unblocked.push_back(std::move(one));
    }
    return states;
}

RankStates Supervisor::query_ranks(RankQuery const& query) const {
    RankStates states = query_local_ranks(query);
    if (!other_nodes_) return states;
    RankStates remote = other_nodes_->query_ranks(query);
    std::ranges::move(remote.waiting, std::back_inserter(states.waiting));
    std::ranges::move(remote.unblocked, std::back_inserter(states.unblocked));
    std::ranges::move(remote.calls, std::back_inserter(states.calls));
    return states;
}

/// Adds the positions that the report lacks. A rank that finds an error knows positions on its own node only; the
/// launchers of the other nodes are asked for the rest.
void Supervisor::add_positions(Report& report) const {
    RankQuery query;
    for (ReportLine const& line : report.lines)
        if (line.position.empty() && line.ranks.size() == 1)
            query.calls.push_back({.rank = line.ranks.front(), .call = line.call, .stack = line.stack});
    if (query.calls.empty()) return;
    for (LocatedCall const& found : query_ranks(query).calls) {
        auto const line = std::ranges::find_if(report.lines, [&](ReportLine const& one) {
            return one.ranks.front() == found.rank && one.call == found.call && one.stack == found.stack;
        });
        if (line != report.lines.end()) line->position = found.position.text;
        if (found.position.without_g) report.add_note(compile_with_g_note);
    }
}

/// Returns what the ranks of all nodes wait for, and what the others do meanwhile.
std::string Supervisor::waiting_table() const {
    RankStates const states = query_ranks({.unblocked = true});
    return job_.json_messages ? json_of(states) : text_of(states);
}

/// Prints the positions of waiting ranks, for a user who interrupts a job that hangs. Returns true if there was
/// something to print, or nothing is to be printed.
bool Supervisor::print_waiting_ranks() {
    if (job_.quiet || !all_started_ || (other_nodes_ && !other_nodes_->is_root())) return true;
    std::string const table = waiting_table();
    if (!table.empty()) output_.print(table);
    return !table.empty();
}

void Supervisor::time_out() {
    double seconds = static_cast<double>(job_.timeout.count()) / 1000;
    std::string message = join("the job was ended because its time limit of ", seconds, " s was reached");
    std::string const table = waiting_table();
    end_job(124, message);
    output_.print(table);
}

/// Reports ranks that have not joined the job: MPI_Init of their program found none of a rank's variables, and either
/// could not see this launcher (find_lost_job), or failed and the failure was ignored. Ranks that have joined are not
/// reported, because they may start such programs.
void Supervisor::report_lost_ranks() {
    if (ending_ || interrupts_ > 0 || job_.ranks() == 1) return;
    for (LibraryCheck const& check : library_checks_) {
        RankState const& rank_state = segment_->rank_state(static_cast<unsigned>(check.local_rank));
        if (check.served && rank_state.state.load(std::memory_order_acquire) == RankPhase::absent)
            report_foreign_library(check, *check.served);
    }
    std::vector<int> lost;
    for (int rank : output_.ranks_with_world_of_one()) {
        RankState const* const state = state_of(rank);
        if (state && state->state.load(std::memory_order_acquire) == RankPhase::absent) lost.push_back(rank);
    }
    if (lost.empty()) return;
    output_lost(
        {RankExit::Kind::never_joined, 1,
         join(rank_ranges(lost), " on ", host_, lost.size() > 1 ? " have" : " has",
              " not joined the job: MPI_Init did not find the variables that mpiexec sets for a rank; pass the "
              "environment ",
              "through the command that starts the program (a container, env -i), or start mpiexec inside it")});
}

}   // namespace tutti::launcher
