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

constexpr int loader_failure_code = 127;   // exit code of a loader that cannot continue, and of a shell
constexpr std::chrono::milliseconds similar_exits_wait = 50ms;   // wait for ranks that end in the same way

}   // namespace

void Supervisor::reap() {
    std::vector<RankExit> exits = reap_ended();
    if (exits.empty()) return;
    RankExit worst = *std::ranges::max_element(exits, {}, &RankExit::kind);
    if (worst.is_reportable && node_monitor_ && !ending_) {
        collect_exits(exits);
        worst.report = make_exit_report_like(worst, exits);
    }
    on_rank_exit(worst);
}

std::vector<RankExit> Supervisor::reap_ended() {
    std::vector<RankExit> exits;
    int status = 0;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0;) {
        if (release_stopped(pid, status)) continue;
        if (WIFSTOPPED(status)) report_stopped(pid, WSTOPSIG(status));
        else if (std::optional<RankExit> exit = on_child_exit(pid, status)) exits.push_back(std::move(*exit));
    }
    return exits;
}

/// Waits for more ends: ranks that run the same program often end at the same place, shortly after each other.
void Supervisor::collect_exits(std::vector<RankExit>& exits) {
    Clock::time_point const until = Clock::now() + similar_exits_wait;
    while (Clock::now() < until && std::ranges::any_of(ranks_, &Rank::alive)) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        for (RankExit& exit : reap_ended()) exits.push_back(std::move(exit));
    }
}

Report Supervisor::make_exit_report_like(RankExit const& worst, std::vector<RankExit> const& exits) const {
    std::vector<ExitedRank> ends;
    for (RankExit const& one : exits)
        if (one.is_reportable == worst.is_reportable && one.kind == worst.kind && one.description == worst.description)
            ends.push_back({one.rank, one.description, one.process, &state_of(one.rank)->last_call});
    return make_exit_report(ends, worst.kind == RankExit::Kind::killed ? worst.code - 128 : 0, worst.is_after_finalize);
}

std::optional<RankExit> Supervisor::on_child_exit(pid_t pid, int status) {
    terminated_.erase(pid);
    auto found = std::find_if(ranks_.begin(), ranks_.end(), [&](Rank const& r) { return r.alive && r.pid == pid; });
    if (found == ranks_.end()) {
        if (other_nodes_) other_nodes_->on_child_exit(pid, status);
        return {};
    }
    found->alive = false;
    guardian_.remove_group(pid);
    int const local_rank = static_cast<int>(found - ranks_.begin()),
              rank = world_rank(static_cast<std::size_t>(local_rank));
    RankState const& rank_state = segment_->rank_state(static_cast<unsigned>(local_rank));
    RankPhase const state = rank_state.state.load(std::memory_order_acquire);
    ProcessExit end{rank,
                    pid,
                    status,
                    state,
                    rank_state.abort_code.load(),
                    oom_cause_of(local_rank, status),
                    loader_error_of(static_cast<std::size_t>(local_rank), status, state)};
    if (end.phase == RankPhase::absent && status == 0 && !never_initialized_ && !job_.keep_going) {
        never_initialized_ = NeverInitialized{rank, pid, host_};
        if (other_nodes_) other_nodes_->report(*never_initialized_);
    }
    RankExit exit = classify_exit(end, host_);
    exit.is_after_finalize = state == RankPhase::finalised;
    exit.is_reportable = (exit.kind == RankExit::Kind::killed || exit.kind == RankExit::Kind::left_early) &&
                         (state == RankPhase::initialised || exit.is_after_finalize);
    exit.rank = rank;
    exit.description = describe_exit(status);
    if (job_.exit_codes)
        output_.print_message(
            join("rank ", rank, other_nodes_ ? " on " + host_ : "", ", process ", pid, ", ended with ",
                 WIFSIGNALED(status) ? describe_signal(WTERMSIG(status)) : join("exit code ", WEXITSTATUS(status))));
    else if (job_.verbose && !ending_)
        output_.print_message(exit.message.empty() ? join("rank ", rank, ", process ", pid, ", ended successfully")
                                                   : exit.message);
    return exit;
}

/// Returns what memory a killed rank ran out of, if any. Its arena remains in the segment and keeps memory scarce; the
/// job is over, so the arena is freed immediately.
std::string Supervisor::oom_cause_of(int local_rank, int status) {
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL || killed_) return {};
    std::string cause = memory_.take_oom_cause();
    if (!cause.empty())
        segment_->punch_hole(segment_->arena(static_cast<unsigned>(local_rank)), segment_->layout().arena_bytes);
    return cause;
}

std::string Supervisor::loader_error_of(std::size_t local_rank, int status, RankPhase state) const {
    bool const failed_in_loader =
        WIFEXITED(status) && WEXITSTATUS(status) == loader_failure_code && state == RankPhase::absent;
    return failed_in_loader && find_loader_error_ && !ending_ ? find_loader_error_(local_rank) : "";
}

void Supervisor::on_rank_exit(RankExit const& exit) {
    if (exit.affects_exit_code_only()) return output_lost(exit);
    if (ending_ || exit.kind == RankExit::Kind::success) return;
    if (other_nodes_) {
        output_.collect();   // a rank's last message is printed before ours
        if (other_nodes_->report(exit)) return;
    }
    bool reader_has_left = exit.code == 128 + SIGPIPE && output_.standard_output().broken();
    bool is_forwarded_signal = ending_signal_ != 0 && exit.code == 128 + ending_signal_;
    bool const is_reported = !reader_has_left && !is_forwarded_signal && !job_.verbose;
    bool const keeps_going = job_.keep_going && exit.kind != RankExit::Kind::aborted;
    if (exit.ends_job() && !keeps_going) {
        std::optional<Report> const report = is_reported && !job_.quiet ? with_waiting(exit.report) : std::nullopt;
        end_job(exit.code, is_reported ? exit.message : "", report.has_value());
        return report ? print_report(*report) : void();
    }
    if (code_ == 0 || keeps_going) {
        if (is_reported && !job_.quiet) output_.print_message(exit.message);
    }
    if (code_ == 0) code_ = exit.code;
}

void Supervisor::fail(RankExit const& exit) {
    if (ending_ || (other_nodes_ && other_nodes_->report(exit))) return;
    end_job(exit.code, exit.message);
}

void Supervisor::on_never_initialized(NeverInitialized const& rank) {
    if (!never_initialized_ && !job_.keep_going) never_initialized_ = rank;
}

/// Ends the job if a rank is in MPI: it would wait indefinitely for a rank that has ended without MPI_Init. Ranks of
/// programs that do not use MPI may end at any time.
void Supervisor::check_never_initialized() {
    for (std::size_t local_rank = 0; local_rank < ranks_.size(); ++local_rank) {
        RankState const& rank_state = segment_->rank_state(static_cast<unsigned>(local_rank));
        if (!ranks_[local_rank].alive || rank_state.state.load(std::memory_order_acquire) != RankPhase::initialised)
            continue;
        return fail({RankExit::Kind::left_early, 1,
                     join("rank ", never_initialized_->rank, " on ", never_initialized_->host, ", process ",
                          never_initialized_->pid, ", ended without calling MPI_Init, which rank ",
                          world_rank(local_rank), " has called")});
    }
}

}   // namespace tutti::launcher
