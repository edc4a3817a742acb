// SPDX-License-Identifier: BSD-3-Clause
// Supervisor: what a process that has ended means for the job, and what is reported about it.
#include <algorithm>
#include <thread>

#include <sys/wait.h>

#include "launcher/diagnosis/report.hpp"
#include "launcher/supervise/supervisor.hpp"
#include "runtime/base/error.hpp"

namespace tutti::launcher {
namespace {

using namespace std::chrono_literals;

constexpr int not_loaded = 127;   // exit code of a loader that cannot continue, and of a shell
constexpr std::chrono::milliseconds for_equal_ends = 50ms;   // wait for ranks that end in the same way

}   // namespace

void Supervisor::reap() {
    std::vector<Verdict> verdicts = reap_ended();
    if (verdicts.empty()) return;
    Verdict worst = *std::ranges::max_element(verdicts, {}, &Verdict::kind);
    if (worst.left_others && node_watch_ && !ending_) {
        gather_ends(verdicts);
        worst.report = report_of_ends_like(worst, verdicts);
    }
    conclude(worst);
}

std::vector<Verdict> Supervisor::reap_ended() {
    std::vector<Verdict> verdicts;
    int status = 0;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0;) {
        if (release_stopped(pid, status)) continue;
        if (WIFSTOPPED(status)) report_stopped(pid, WSTOPSIG(status));
        else if (std::optional<Verdict> verdict = buried(pid, status)) verdicts.push_back(std::move(*verdict));
    }
    return verdicts;
}

/// Waits for more ends: ranks that run the same program often end at the same place, shortly after each other.
void Supervisor::gather_ends(std::vector<Verdict>& verdicts) {
    Clock::time_point const until = Clock::now() + for_equal_ends;
    while (Clock::now() < until && std::ranges::any_of(ranks_, &Rank::alive)) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        for (Verdict& verdict : reap_ended()) verdicts.push_back(std::move(verdict));
    }
}

Report Supervisor::report_of_ends_like(Verdict const& worst, std::vector<Verdict> const& verdicts) const {
    std::vector<RankEnd> ends;
    for (Verdict const& one : verdicts)
        if (one.left_others == worst.left_others && one.kind == worst.kind && one.how == worst.how)
            ends.push_back({one.rank, one.how, one.process, &state_of(one.rank)->last_call});
    return report_of_ends(ends, worst.kind == Verdict::Kind::killed ? worst.code - 128 : 0, worst.is_after_finalize);
}

std::optional<Verdict> Supervisor::buried(pid_t pid, int status) {
    warned_.erase(pid);
    auto found = std::find_if(ranks_.begin(), ranks_.end(), [&](Rank const& r) { return r.alive && r.pid == pid; });
    if (found == ranks_.end()) {
        if (elsewhere_) elsewhere_->buried(pid, status);
        return {};
    }
    found->alive = false;
    guardian_.forget(pid);
    int const place = static_cast<int>(found - ranks_.begin()), rank = world_rank(static_cast<std::size_t>(place));
    RankState const& rank_state = segment_->rank_state(static_cast<unsigned>(place));
    RankPhase const state = rank_state.state.load(std::memory_order_acquire);
    End end{rank,
            pid,
            status,
            state,
            rank_state.abort_code.load(),
            what_ran_out(place, status),
            what_was_not_loaded(static_cast<std::size_t>(place), status, state)};
    if (end.state == RankPhase::absent && status == 0 && !missing_ && !job_.keep_going) {
        missing_ = Missing{rank, pid, host_};
        if (elsewhere_) elsewhere_->report(*missing_);
    }
    Verdict verdict = judge(end, host_);
    verdict.is_after_finalize = state == RankPhase::finalised;
    verdict.left_others = (verdict.kind == Verdict::Kind::killed || verdict.kind == Verdict::Kind::left_early) &&
                          (state == RankPhase::initialised || verdict.is_after_finalize);
    verdict.rank = rank;
    verdict.how = end_words(status);
    if (job_.exit_codes)
        output_.say(
            join("rank ", rank, elsewhere_ ? " on " + host_ : "", ", process ", pid, ", ended with ",
                 WIFSIGNALED(status) ? signal_words(WTERMSIG(status)) : join("exit code ", WEXITSTATUS(status))));
    else if (job_.verbose && !ending_)
        output_.say(verdict.sentence.empty() ? join("rank ", rank, ", process ", pid, ", ended well")
                                             : verdict.sentence);
    return verdict;
}

/// Returns what memory a killed rank ran out of, if any. Its arena remains in the segment and keeps memory scarce; the
/// job is over, so the arena is freed immediately.
std::string Supervisor::what_ran_out(int place, int status) {
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL || killed_) return {};
    std::string what = memory_.what_ran_out();
    if (!what.empty()) segment_->forget(segment_->arena(static_cast<unsigned>(place)), segment_->layout().arena_bytes);
    return what;
}

std::string Supervisor::what_was_not_loaded(std::size_t place, int status, RankPhase state) const {
    bool const by_loader = WIFEXITED(status) && WEXITSTATUS(status) == not_loaded && state == RankPhase::absent;
    return by_loader && why_not_loaded_ && !ending_ ? why_not_loaded_(place) : "";
}

void Supervisor::conclude(Verdict const& verdict) {
    if (verdict.costs_success_only()) return output_lost(verdict);
    if (ending_ || verdict.kind == Verdict::Kind::fine) return;
    if (elsewhere_) {
        output_.collect();   // a rank's last message is printed before ours
        if (elsewhere_->report(verdict)) return;
    }
    bool our_reader_left = verdict.code == 128 + SIGPIPE && output_.standard_output().broken();
    bool as_told = passed_on_ != 0 && verdict.code == 128 + passed_on_;
    bool const telling = !our_reader_left && !as_told && !job_.verbose;
    bool const kept_going = job_.keep_going && verdict.kind != Verdict::Kind::aborted;
    if (verdict.ends_job() && !kept_going) {
        std::optional<Report> const report = telling && !job_.quiet ? with_waiting(verdict.report) : std::nullopt;
        end_job(verdict.code, telling ? verdict.sentence : "", report.has_value());
        return report ? tell(*report) : void();
    }
    if (code_ == 0 || kept_going) {
        if (telling && !job_.quiet) output_.say(verdict.sentence);
    }
    if (code_ == 0) code_ = verdict.code;
}

void Supervisor::fail(Verdict const& verdict) {
    if (ending_ || (elsewhere_ && elsewhere_->report(verdict))) return;
    end_job(verdict.code, verdict.sentence);
}

void Supervisor::look_for_the_missing(Missing const& missing) {
    if (!missing_ && !job_.keep_going) missing_ = missing;
}

/// Ends the job if a rank is in MPI: it would wait indefinitely for a rank that has ended without MPI_Init. Ranks of
/// programs that do not use MPI may end at any time.
void Supervisor::look_again_for_the_missing() {
    for (std::size_t place = 0; place < ranks_.size(); ++place) {
        RankState const& rank_state = segment_->rank_state(static_cast<unsigned>(place));
        if (!ranks_[place].alive || rank_state.state.load(std::memory_order_acquire) != RankPhase::initialised)
            continue;
        return fail({Verdict::Kind::left_early, 1,
                     join("rank ", missing_->rank, " on ", missing_->host, ", process ", missing_->pid,
                          ", ended without calling MPI_Init, which rank ", world_rank(place), " has called")});
    }
}

}   // namespace tutti::launcher
