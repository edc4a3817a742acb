// SPDX-License-Identifier: BSD-3-Clause
// What the supervisor finds out about ranks that wait, here and on other nodes, and tells.
#include <algorithm>

#include "launcher/supervise/supervisor.hpp"
#include "runtime/base/error.hpp"
#include "runtime/settings/launch.hpp"

namespace tutti::launcher {

// What a rank that has just died has sent to other nodes may still be on its way; what one has sent that called
// MPI_Finalize is not.
void Supervisor::look_for_mistakes() {
    auto const alive = [this](unsigned place) { return elsewhere_ || place >= ranks_.size() || ranks_[place].alive; };
    if (segment_) node_watch_.emplace(*segment_, alive);
    auto const ask_node = [this](int node, Question const& question) {
        if (!elsewhere_ || !elsewhere_->ask(node, question)) ask(question);
    };
    if (!elsewhere_ && segment_) deadlocks_.emplace(std::vector<int>(segment_->header().world_size), ask_node);
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
        look_for_findings();
        if (!node_watch_) return;
        NodeNews const news = node_watch_->news(now);
        if (!news.empty() && !(elsewhere_ && elsewhere_->report(news))) hear(news);
    }
    if (!deadlocks_) return;
    if (std::optional<ProvenDeadlock> found = deadlocks_->look(now)) end_by(std::move(*found));
}

void Supervisor::look_for_findings() {
    for (std::size_t place = 0; place < ranks_.size(); ++place) {
        Finding& finding = segment_->rank_state(static_cast<unsigned>(place)).finding;
        auto kind = finding.kind.load(std::memory_order_acquire);
        if (kind == Finding::Kind::nothing) continue;
        Report report = read_finding(finding);
        bool const warning = kind == Finding::Kind::warning;
        // The rank takes its warning back when it has waited for too long.
        if (warning && !finding.kind.compare_exchange_strong(kind, Finding::Kind::nothing, std::memory_order_acq_rel))
            continue;
        hear(std::move(report));
        if (!warning) return;
        if (elsewhere_) elsewhere_->beat();   // places take their time
    }
}

Report Supervisor::read_finding(Finding const& finding) const {
    return report_of(finding, [this](int rank, std::vector<std::uint64_t> const& stack) {
        for (std::size_t place = 0; place < ranks_.size(); ++place) {
            if (world_rank(place) != rank) continue;
            return place_of(ranks_[place].pid, whole_stack(segment_->rank_state(static_cast<unsigned>(place)), stack));
        }
        return place_of(0, stack);
    });
}

void Supervisor::hear(Report report) {
    if (report.severity == Report::Severity::error) return end_by(std::move(report));
    if (!elsewhere_ || !elsewhere_->report(report)) warnings_.add(report);
}

void Supervisor::hear(NodeNews const& news) {
    if (deadlocks_) deadlocks_->hear(news);
}

void Supervisor::ask(Question const& question) {
    if (node_watch_) node_watch_->ask(question);
}

/// What the ranks show besides is asked for now.
void Supervisor::end_by(ProvenDeadlock deadlock) {
    std::vector<int> ranks;
    for (BlockedRank const& one : deadlock.blocked) ranks.push_back(one.rank);
    std::vector<PlacedRank> const shown = blocked_ranks(ranks);
    auto const of = [&](int rank) {
        return std::ranges::find(shown, rank, [](PlacedRank const& one) { return one.blocked.rank; });
    };
    for (BlockedRank& one : deadlock.blocked)
        if (auto const found = of(one.rank); found != shown.end()) one = found->blocked;
    end_by(report_of(deadlock, [&](int rank, std::vector<std::uint64_t> const&) {
        auto const found = of(rank);
        return found == shown.end() ? Place{} : found->place;
    }));
}

void Supervisor::end_by(Report report) {
    if (ending_ || (!node_watch_ && !deadlocks_)) return;
    node_watch_.reset();
    deadlocks_.reset();
    if (elsewhere_ && elsewhere_->report(report)) return;
    if (job_.stand_on_deadlock) report.notes.emplace_back("the job is left as it is; Ctrl-C ends it");
    tell(report);
    if (!job_.stand_on_deadlock) end_job(launch::mistake_code, "");
}

/// Behind what the ranks have printed.
void Supervisor::tell(Report const& report) {
    output_.collect();
    output_.print(job_.json_messages ? json_of(report) : text_of(report, output_.standard_error().terminal()));
}

/// Once, when all ranks have ended and printed.
void Supervisor::tell_warnings() {
    if (!job_.quiet)
        for (Report const& report : warnings_.all()) tell(report);
}

// Debug information takes its time, in which other nodes must not think that this one has gone.
std::vector<PlacedRank> Supervisor::blocked_here(std::vector<int> const& ranks) const {
    std::vector<PlacedRank> all;
    for (std::size_t place = 0; place < ranks_.size(); ++place) {
        bool const named = ranks.empty() || std::ranges::find(ranks, world_rank(place)) != ranks.end();
        if (!named || !ranks_[place].alive) continue;
        auto blocked = read_blocked(segment_->rank_state(static_cast<unsigned>(place)));
        if (!blocked) continue;
        Place const where = place_of(ranks_[place].pid, blocked->stack);
        all.push_back({std::move(*blocked), where});
        if (elsewhere_) elsewhere_->beat();
    }
    return all;
}

std::vector<PlacedRank> Supervisor::blocked_ranks(std::vector<int> const& ranks) const {
    std::vector<PlacedRank> all = blocked_here(ranks);
    if (elsewhere_)
        for (PlacedRank& one : elsewhere_->blocked(ranks)) all.push_back(std::move(one));
    return all;
}

/// What the ranks of all nodes wait for, as a table.
std::string Supervisor::waiting_table() const {
    std::vector<ReportLine> lines = waiting(blocked_ranks({}));
    std::ranges::sort(lines, {}, [](ReportLine const& line) { return line.ranks.front(); });
    return lines.empty() ? "" : "What ranks wait for:\n" + table_of(lines);
}

/// Somebody who interrupts a job that hangs wants to know where.
void Supervisor::tell_waiting() {
    if (job_.quiet || !all_started_ || (elsewhere_ && !elsewhere_->decides())) return;
    std::string const table = waiting_table();
    if (!table.empty()) output_.print(table);
}

void Supervisor::time_out() {
    double seconds = static_cast<double>(job_.timeout.count()) / 1000;
    std::string sentence = join("the time limit of ", seconds, " s is over and the job is ended");
    std::string const table = waiting_table();
    end_job(124, sentence);
    output_.print(table);
}

}   // namespace tutti::launcher
