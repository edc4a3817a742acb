// SPDX-License-Identifier: BSD-3-Clause
// Supervisor: finding and reporting deadlocks, errors, and what ranks of this and other nodes wait for.
#include <algorithm>
#include <iterator>

#include <unistd.h>

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

constexpr std::size_t most_stacks = 64;   // per node: each takes some milliseconds

std::chrono::seconds polling_limit(Job const& job) { return std::chrono::seconds(variables_of(job).polling_limit); }

}   // namespace

// In a job on several nodes every rank counts as alive: messages of a rank that has just died may still be in the
// network, but not those of a rank that has called MPI_Finalize.
void Supervisor::look_for_mistakes() {
    auto const alive = [this](unsigned place) { return elsewhere_ || place >= ranks_.size() || ranks_[place].alive; };
    if (segment_) node_watch_.emplace(*segment_, alive);
    auto const may_act = [this](unsigned place) { return place < ranks_.size() && ranks_[place].alive; };
    if (segment_) stillness_.emplace(*segment_, may_act, polling_limit(job_));
    auto const ask_node = [this](int node, Question const& question) {
        if (!elsewhere_ || !elsewhere_->ask(node, question)) ask(question);
    };
    if (!elsewhere_ && segment_) deadlocks_.emplace(std::vector<int>(segment_->layout().world_size), ask_node);
    else if (elsewhere_ && elsewhere_->decides()) deadlocks_.emplace(elsewhere_->node_of(), ask_node);
}

Supervisor::Clock::time_point Supervisor::next_diagnosis() const {
    Clock::time_point due = Clock::now() + std::chrono::hours(24);
    if (node_watch_) due = std::min(due, node_watch_->due());
    if (deadlocks_) due = std::min(due, deadlocks_->due());
    return due;
}

void Supervisor::look_for_deadlock(Clock::time_point now) {
    if (node_watch_ && now >= node_watch_->due()) {
        look_for_findings(now);
        if (!node_watch_) return;
        NodeNews news = node_watch_->news(now);
        if (all_started_) news.still = stillness_->change(now, now_ns());
        if (!news.empty() && !(elsewhere_ && elsewhere_->report(news))) hear(news);
    }
    if (!deadlocks_) return;
    if (std::optional<ProvenDeadlock> found = deadlocks_->look(now)) end_by(std::move(*found));
}

void Supervisor::look_for_findings(Clock::time_point now) {
    for (std::size_t place = 0; place < ranks_.size(); ++place) {
        Finding& finding = segment_->rank_state(static_cast<unsigned>(place)).finding;
        auto kind = finding.kind.load(std::memory_order_acquire);
        bool const warning = kind == Finding::Kind::warning;
        if (!warning && kind != Finding::Kind::error) continue;
        auto const complete = [&] { return shows_all_places(finding, [this](int rank) { return state_of(rank); }); };
        if (!warning && !finding_delay_.over(complete(), now)) continue;
        Report report = read_finding(finding);
        // The rank withdraws its warning after waiting too long.
        if (warning && !finding.kind.compare_exchange_strong(kind, Finding::Kind::nothing, std::memory_order_acq_rel))
            continue;
        hear(std::move(report));
        if (!warning) return;
    }
}

Report Supervisor::read_finding(Finding const& finding) const {
    return report_of(finding, [this](int rank, auto call, auto const& noted) { return place_in(rank, call, noted); });
}

void Supervisor::hear(Report report) {
    if (report.severity == Report::Severity::error) return end_by(std::move(report));
    if (elsewhere_ && elsewhere_->report(report)) return;
    add_places(report);
    warnings_.add(report);
}

void Supervisor::hear(NodeNews const& news) {
    if (!deadlocks_) return;
    deadlocks_->hear(news);
    still_.nodes += news.still.nodes;
    still_.polling += news.still.polling;
    if (!(news.still == Still{})) look_for_stillness();
}

/// Prints a notice that does not end the job: whether polling ranks also do other things is unknown.
void Supervisor::look_for_stillness() {
    std::set<int> nodes{0};
    if (elsewhere_) nodes = {elsewhere_->node_of().begin(), elsewhere_->node_of().end()};
    if (still_told_ || job_.quiet || still_.polling == 0 || still_.nodes < static_cast<int>(nodes.size())) return;
    still_told_ = true;
    tell(still_report(see({}).waiting, polling_limit(job_)));
}

void Supervisor::ask(Question const& question) {
    if (node_watch_) node_watch_->ask(question);
}

/// Asks for the remaining data that the ranks publish, then reports the deadlock.
void Supervisor::end_by(ProvenDeadlock deadlock) {
    std::vector<int> ranks;
    for (BlockedRank const& one : deadlock.blocked) ranks.push_back(one.rank);
    std::vector<PlacedRank> const shown = see({ranks}).waiting;
    auto const of = [&](int rank) {
        return std::ranges::find(shown, rank, [](PlacedRank const& one) { return one.blocked.rank; });
    };
    for (BlockedRank& one : deadlock.blocked)
        if (auto const found = of(one.rank); found != shown.end()) one = found->blocked;
    auto const place = [&](int rank, std::vector<std::uint64_t> const& stack) {
        auto const found = of(rank);
        return found == shown.end() ? Place{} : found->place_of(stack);
    };
    end_by(report_of(deadlock, place, variables_of(job_).diagnosis == "full"));
}

void Supervisor::end_by(Report report) {
    if (ending_ || (!node_watch_ && !deadlocks_)) return;
    node_watch_.reset();
    deadlocks_.reset();
    if (elsewhere_ && elsewhere_->report(report)) return;
    add_places(report);
    if (job_.stand_on_deadlock) report.notes.emplace_back("the job is left as it is; Ctrl-C ends it");
    tell(report);
    if (!job_.stand_on_deadlock) end_job(launch::mistake_code, "");
}

/// Returns the local rank of a rank of the world; nothing if the rank is on another node.
std::optional<std::size_t> Supervisor::place_of_rank(int rank) const {
    for (std::size_t place = 0; place < ranks_.size(); ++place)
        if (world_rank(place) == rank) return place;
    return {};
}

/// Returns the state of a rank of the world; null if the rank is on another node.
RankState const* Supervisor::state_of(int rank) const {
    auto const place = place_of_rank(rank);
    return place ? &segment_->rank_state(static_cast<unsigned>(*place)) : nullptr;
}

/// Returns the position of a call of one of this node's ranks; an empty one for other ranks.
Place Supervisor::place_in(int rank, std::string_view call, std::vector<std::uint64_t> const& noted) const {
    auto const place = place_of_rank(rank);
    return place ? noted_place(*state_of(rank), process_at(*place), call, noted, &lines_) : Place{};
}

/// Returns the process of the rank that is in MPI, which a script or a container may have started; 0 if it cannot be
/// seen from here.
pid_t Supervisor::process_at(std::size_t place) const {
    RankState const& rank_state = segment_->rank_state(static_cast<unsigned>(place));
    pid_t const started = ranks_[place].pid, in_mpi = rank_state.pid.load();
    std::uint64_t const space = rank_state.pid_namespace.load();
    if (in_mpi == 0) return started;
    if (same_numbers(pid_namespace(), space) && getpgid(in_mpi) == started) return in_mpi;
    return descendant_with(started, in_mpi, space);
}

/// Prints the report after what the ranks have printed so far.
void Supervisor::tell(Report const& report) {
    told_.push_back(report);
    output_.collect();
    output_.print(job_.json_messages ? json_of(report) : text_of(report, output_.standard_error().terminal()));
}

/// Adds the ranks that wait for the rank that the report is about.
std::optional<Report> Supervisor::with_waiting(std::optional<Report> report) const {
    if (!report || report->lines.empty()) return report;
    int const ended = report->lines.front().ranks.front();
    RanksSeen const seen = see({});
    for (PlacedRank const& one : seen.waiting) {
        if (awaits(one.blocked.wait, ended) && one.blocked.rank != ended)
            report->lines.push_back(
                {{one.blocked.rank}, one.blocked.call, one.place.words, join("waiting for rank ", ended)});
    }
    return report;
}

/// Prints the warnings. Called once, when all ranks have ended and printed.
void Supervisor::tell_warnings() {
    if (!job_.quiet)
        for (Report const& report : warnings_.all()) tell(report);
}

/// Returns the wait of a rank with its position; nothing if the rank does not wait. `or_polling`: a rank that polls
/// without progress counts as waiting.
std::optional<PlacedRank> Supervisor::blocked_at(std::size_t place, bool or_polling) const {
    RankState const& rank_state = segment_->rank_state(static_cast<unsigned>(place));
    auto blocked = read_blocked(rank_state);
    if (!blocked && or_polling) blocked = read_polling(rank_state, now_ns());
    if (!blocked) return {};
    blocked->rank = world_rank(place);
    PlacedRank one;
    one.place = place_of(process_at(place), *blocked, &lines_);
    for (BlockedRank const& other : blocked->also) one.also.push_back(place_of(process_at(place), other, &lines_));
    one.blocked = std::move(*blocked);
    return one;
}

/// Returns the site of a rank's last call, if its name matches `call`; otherwise nothing. Used if the rank that found
/// an error does not know the position: usually it is that of the last call.
static std::vector<std::uint64_t> site_of_last(LastCall const& last, std::string_view call) {
    std::string const name = name_in(last);
    bool const is_same = !name.empty() && call.starts_with(name + "("),
               sends = call.starts_with("send of ") && name.find("end") != name.npos;
    if (!is_same && !sends) return {};
    return {reinterpret_cast<std::uintptr_t>(last.site)};
}

RanksSeen Supervisor::see_here(Inquiry const& inquiry) const {
    RanksSeen seen;
    for (MadeCall const& call : inquiry.calls) {
        if (!place_of_rank(call.rank)) continue;
        std::vector<std::uint64_t> const stack =
            call.stack.empty() ? site_of_last(state_of(call.rank)->last_call, call.call) : call.stack;
        seen.calls.push_back({call.rank, call.call, call.stack, place_in(call.rank, call.call, stack)});
    }
    if (!inquiry.calls.empty()) return seen;
    std::vector<std::size_t> unblocked;
    for (std::size_t place = 0; place < ranks_.size(); ++place) {
        bool const all = inquiry.ranks.empty();
        if (!ranks_[place].alive ||
            (!all && std::ranges::find(inquiry.ranks, world_rank(place)) == inquiry.ranks.end()))
            continue;
        if (std::optional<PlacedRank> one = blocked_at(place, all)) seen.waiting.push_back(std::move(*one));
        else if (inquiry.unblocked) unblocked.push_back(place);
    }
    std::vector<pid_t> processes;
    for (std::size_t place : unblocked) {
        bool const in_mpi = segment_->rank_state(static_cast<unsigned>(place)).pid.load() != 0;
        processes.push_back(in_mpi ? process_at(place) : running_below(ranks_[place].pid));
    }
    std::vector<ProcessStack> const stacks = stacks_of(processes, most_stacks);
    for (std::size_t i = 0; i < unblocked.size(); ++i) {
        RankState const& rank_state = segment_->rank_state(static_cast<unsigned>(unblocked[i]));
        UnblockedRank one = unblocked_rank(rank_state, processes[i], stacks[i], &lines_);
        one.rank = world_rank(unblocked[i]);
        if (rank_state.pid.load() == 0 && processes[i] != ranks_[unblocked[i]].pid)
            one.now = running_process(processes[i]) + (one.now.empty() ? "" : " ") + one.now;
        seen.unblocked.push_back(std::move(one));
    }
    return seen;
}

RanksSeen Supervisor::see(Inquiry const& inquiry) const {
    RanksSeen seen = see_here(inquiry);
    if (!elsewhere_) return seen;
    RanksSeen there = elsewhere_->see(inquiry);
    std::ranges::move(there.waiting, std::back_inserter(seen.waiting));
    std::ranges::move(there.unblocked, std::back_inserter(seen.unblocked));
    std::ranges::move(there.calls, std::back_inserter(seen.calls));
    return seen;
}

/// Adds the positions that the report lacks. A rank that finds an error knows positions on its own node only; the
/// launchers of the other nodes are asked for the rest.
void Supervisor::add_places(Report& report) const {
    Inquiry inquiry;
    for (ReportLine const& line : report.lines)
        if (line.place.empty() && line.ranks.size() == 1)
            inquiry.calls.push_back({line.ranks.front(), line.call, line.stack});
    if (inquiry.calls.empty()) return;
    bool without_g = false;
    for (MadeCall const& found : see(inquiry).calls) {
        auto const line = std::ranges::find_if(report.lines, [&](ReportLine const& one) {
            return one.ranks.front() == found.rank && one.call == found.call && one.stack == found.stack;
        });
        if (line != report.lines.end()) line->place = found.place.words;
        without_g |= found.place.without_g;
    }
    if (without_g && std::ranges::find(report.notes, more_with_g) == report.notes.end())
        report.notes.emplace_back(more_with_g);
}

/// Returns what the ranks of all nodes wait for, and what the others do meanwhile.
std::string Supervisor::waiting_table() const {
    RanksSeen const seen = see({.unblocked = true});
    return job_.json_messages ? json_of(seen) : text_of(seen);
}

/// Prints the positions of waiting ranks, for a user who interrupts a job that hangs. Returns true if there was
/// something to print, or nothing is to be printed.
bool Supervisor::tell_waiting() {
    if (job_.quiet || !all_started_ || (elsewhere_ && !elsewhere_->decides())) return true;
    std::string const table = waiting_table();
    if (!table.empty()) output_.print(table);
    return !table.empty();
}

void Supervisor::time_out() {
    double seconds = static_cast<double>(job_.timeout.count()) / 1000;
    std::string sentence = join("the time limit of ", seconds, " s is over and the job is ended");
    std::string const table = waiting_table();
    end_job(124, sentence);
    output_.print(table);
}

/// Reports ranks that have not joined the job: MPI_Init of their program found none of a rank's variables, and either
/// could not see this launcher (find_lost_job), or failed and the failure was ignored. Ranks that have joined are not
/// reported, because they may start such programs.
void Supervisor::report_lost_ranks() {
    if (ending_ || interrupts_ > 0 || job_.ranks() == 1) return;
    std::vector<int> lost;
    for (int rank : output_.ranks_with_world_of_one()) {
        RankState const* const state = state_of(rank);
        if (state && state->state.load(std::memory_order_acquire) == RankPhase::absent) lost.push_back(rank);
    }
    if (lost.empty()) return;
    output_lost({Verdict::Kind::never_joined, 1,
                 join(rank_ranges(lost), " on ", host_, lost.size() > 1 ? " have" : " has",
                      " not joined the job: MPI_Init found none of a rank's variables; let what starts the program, ",
                      "such as a container or env -i, pass the environment on, or put it in front of mpiexec")});
}

}   // namespace tutti::launcher
