// SPDX-License-Identifier: BSD-3-Clause
// Supervisor: what a process that has ended means for the job, and what is reported about it.
#include <algorithm>
#include <functional>
#include <utility>

#include <sys/wait.h>

#include "launcher/diagnosis/report.hpp"
#include "launcher/placement/allocation.hpp"
#include "launcher/supervise/supervisor.hpp"
#include "runtime/base/error.hpp"

namespace tutti::launcher {
namespace {

using namespace std::chrono_literals;

constexpr int loader_failure_code = 127;   // exit code of a loader that cannot continue, and of a shell

}   // namespace

/// Of exits that are noticed together, the one that explains most comes first.
void Supervisor::reap() {
    std::vector<RankExit> exits;
    int status = 0;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0;) {
        if (release_stopped(pid, status)) continue;
        if (WIFSTOPPED(status)) report_stopped(pid, WSTOPSIG(status));
        else if (std::optional<RankExit> exit = on_child_exit(pid, status)) exits.push_back(std::move(*exit));
    }
    std::ranges::stable_sort(exits, std::ranges::greater{}, &RankExit::kind);
    for (RankExit& exit : exits) on_rank_exit(std::move(exit));
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
    if (servers_) servers_->serve_rank(static_cast<std::size_t>(local_rank), *this);
    RankState const& rank_state = segment_->rank_state(static_cast<unsigned>(local_rank));
    RankPhase const state = rank_state.state.load(std::memory_order_acquire);
    ProcessExit end{.rank = rank,
                    .pid = pid,
                    .status = status,
                    .phase = state,
                    .abort_code = rank_state.abort_code.load(),
                    .oom_cause = oom_cause_of(local_rank, status),
                    .loader_error = loader_error_of(static_cast<std::size_t>(local_rank), status, state),
                    .has_closed_pmi = servers_ && servers_->has_closed(static_cast<std::size_t>(local_rank))};
    if (end.phase == RankPhase::absent && status == 0 && !never_initialized_ && !job_.keep_going) {
        never_initialized_ = NeverInitialized{rank, pid, host_};
        if (other_nodes_) other_nodes_->report(*never_initialized_);
    }
    RankExit exit = classify_exit(end, host_);
    if (!node_monitor_ || ending_) exit.in_mpi.reset();
    if (exit.in_mpi) exit.in_mpi->locate(rank_state.last_call);
    if (job_.exit_codes)
        output_.print_message(
            join("rank ", rank, other_nodes_ ? " on " + host_ : "", ", process ", pid, ", ended with ",
                 WIFSIGNALED(status) ? describe_signal(WTERMSIG(status)) : join("exit code ", WEXITSTATUS(status))));
    else if (job_.verbose && !ending_ && exit.kind == RankExit::Kind::success)
        output_.print_message(join("rank ", rank, ", process ", pid, ", ended successfully"));
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

// The launcher as the owner of its servers: it stores how far a rank has come where Tutti's ranks do it themselves, so
// that all rules about their ends apply.

void Supervisor::exchange(Contribution part) {
    if (auto const result = other_nodes_ ? other_nodes_->exchange(part) : exchanges_.add(std::move(part)))
        complete(*result);
}

void Supervisor::enter(std::size_t local_rank, RankPhase phase) {
    segment_->rank_state(static_cast<unsigned>(local_rank)).state.store(phase, std::memory_order_release);
}

void Supervisor::abort(std::size_t local_rank, int code, std::string const& message) {
    RankState& rank_state = segment_->rank_state(static_cast<unsigned>(local_rank));
    rank_state.abort_code = code;
    rank_state.state.store(RankPhase::aborted, std::memory_order_release);
    on_rank_exit(classify_exit({.rank = world_rank(local_rank),
                                .pid = ranks_[local_rank].pid,
                                .phase = RankPhase::aborted,
                                .abort_code = code,
                                .abort_message = printable(message)},
                               host_));
}

void Supervisor::refuse_spawn(std::size_t local_rank) {
    if (std::exchange(spawn_reported_, true) || job_.quiet) return;
    output_.print_message(join("rank ", world_rank(local_rank), " on ", host_, ", process ", ranks_[local_rank].pid,
                               ", has requested further processes (MPI_Comm_spawn), which this mpiexec does not start; "
                               "start all ranks with the job: mpiexec -n 1 ./parent : -n 4 ./child"));
}

void Supervisor::refuse(std::size_t local_rank, std::string const& message) {
    fail({RankExit::Kind::failed, 1,
          join("rank ", world_rank(local_rank), " on ", host_, ", process ", ranks_[local_rank].pid, ", ", message)});
}

void Supervisor::on_rank_exit(RankExit exit) {
    if (exit.affects_exit_code_only()) return output_lost(exit);
    if (ending_ || exit.kind == RankExit::Kind::success) return;
    if (other_nodes_) {
        output_.collect();   // a rank's last message is printed before ours
        if (other_nodes_->report(exit)) return;
    }
    if (exits_.empty()) exits_due_ = Clock::now() + (exit.in_mpi ? similar_exits_wait : 0ms);
    exits_.push_back(std::move(exit));
    if (!exits_.front().in_mpi) handle_exits();
}

void Supervisor::handle_exits() {
    while (!exits_.empty() && !ending_) {
        RankExit const first = exits_.front();
        handle_exit(first, take_alike(exits_));
    }
    exits_.clear();
}

/// Handles the exit of a rank, and that of all ranks in `alike`, which includes the first one if it was in MPI.
void Supervisor::handle_exit(RankExit const& exit, std::vector<ExitedRank> const& alike) {
    bool reader_has_left = exit.code == 128 + SIGPIPE && output_.standard_output().broken();
    bool is_forwarded_signal = ending_signal_ != 0 && exit.code == 128 + ending_signal_;
    bool const is_reported = job_.verbose || (!reader_has_left && !is_forwarded_signal);
    bool const keeps_going = job_.keep_going && exit.kind != RankExit::Kind::aborted;
    std::optional<Report> report;
    if (is_reported && !job_.quiet && !alike.empty()) report = make_exit_report(alike, query_ranks({}).waiting);
    if (exit.ends_job() && !keeps_going) {
        end_job(exit.code, is_reported && !report ? exit.message : "");
    } else {
        if (!report && is_reported && !job_.quiet && (code_ == 0 || keeps_going)) output_.print_message(exit.message);
        if (code_ == 0) code_ = exit.code;
    }
    if (report) print_report(*report);
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
