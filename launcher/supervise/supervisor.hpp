// SPDX-License-Identifier: BSD-3-Clause
// Supervises a job after its start: one loop polls for output, input, signals and ended processes until no process is
// left. ends.cpp handles the ends of ranks, supervise_diagnosis.cpp deadlocks and other reports. A node whose ranks
// another launcher has started is only watched (watch_node.cpp).
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <sys/types.h>

#include "launcher/base/job.hpp"
#include "launcher/diagnosis/deadlock_detector.hpp"
#include "launcher/diagnosis/node_monitor.hpp"
#include "launcher/diagnosis/node_ranks.hpp"
#include "launcher/diagnosis/unblocked_ranks.hpp"
#include "launcher/serve/rank_servers.hpp"
#include "launcher/start/mpi_library.hpp"
#include "launcher/supervise/guardian.hpp"
#include "launcher/supervise/input.hpp"
#include "launcher/supervise/other_nodes.hpp"
#include "launcher/supervise/output.hpp"
#include "launcher/supervise/rank_exit.hpp"
#include "launcher/supervise/signals.hpp"
#include "runtime/memory/segment.hpp"

namespace tutti::launcher {

class Supervisor : private ServerOwner {
public:
    /// `segment` is null if no rank will be added, `other_nodes` if the job runs on one node. `host`: the name of this
    /// node.
    Supervisor(Job const& job, Segment* segment, LauncherObjects objects, std::string host, OtherNodes* other_nodes);

    /// Adds the next rank, which has been started as this process.
    void add_rank(pid_t pid);

    /// Called while ranks are being started. Returns the signal by which the user has ended the job, if one has
    /// arrived.
    std::optional<int> interrupted();

    /// Enables the search for deadlocks and for errors that ranks have found. Such a job is ended with exit code 125,
    /// or reported and left alone (Job::keep_on_deadlock).
    void enable_diagnosis();

    /// Sets a function that returns why the loader could not start the rank at this local rank. It is called when a
    /// rank has ended in the way in which the loader ends one.
    void set_loader_error_finder(std::function<std::string(std::size_t local_rank)> find) {
        find_loader_error_ = std::move(find);
    }

    /// Serves ranks that use another MPI library. `servers` must stay valid as long as this object runs.
    void set_servers(RankServers& servers) { servers_ = &servers; }
    /// An exchange between launchers to which this one has contributed is complete.
    void complete(Exchanged const& result) {
        if (servers_) servers_->complete(result);
    }

    /// Ends the job: SIGTERM now, SIGKILL after the grace period. Only the first reason counts.
    void end_job(int code, std::string const& message);

    /// Ends the job because a node is lost. Reported even if the job is already ending, since several nodes may be lost
    /// at the same time, and a rank's failure may be the consequence.
    void lose_node(std::string const& message);

    /// A rank has ended with an error, here or on another node: ends the job if necessary, or leaves the decision to
    /// the launcher that makes it, which first waits for similar exits (similar_exits_wait).
    void on_rank_exit(RankExit exit);
    /// Ends the job because of another failure, and reports it in any case; or leaves the decision to the launcher that
    /// makes it.
    void fail(RankExit const& exit);
    /// A rank on any node has ended without MPI_Init: ends the job as soon as a rank of this node is in MPI.
    void on_never_initialized(NeverInitialized const& rank);
    /// Delivers a signal of the user to the ranks. Daemons receive these from mpiexec.
    void deliver(int signal);
    /// Handles an error of the program. A certain error is reported and ends the job, a warning is reported at its end;
    /// if another launcher decides, both are sent to it.
    void add(Report report);
    /// Handles the update of a node about its blocked ranks.
    void add(NodeUpdate const& update);
    /// Asks the suspects on this node; the reply is part of a later update.
    void query_waits(WaitQuery const& query);
    /// Returns the state of ranks of this node.
    RankStates query_local_ranks(RankQuery const& query) const;

    /// Return what has been reported about the job: the errors of the program, and the reason for its end (empty:
    /// none, or one of the reports).
    std::vector<Report> const& reports() const { return reports_; }
    std::string const& end_reason() const { return end_reason_; }

    /// Runs until the last process has ended and all output is delivered. Returns the exit code of mpiexec.
    int run();

private:
    using Clock = std::chrono::steady_clock;
    struct Rank {
        pid_t pid;
        bool alive;
    };

    int alive() const;
    bool busy() const;
    void run_once();
    std::chrono::milliseconds poll_timeout() const;

    void handle_signals();
    void interrupt(int signal);
    void send(int signal);
    void send_to_handlers(int signal);

    void reap();
    void handle_exits();
    void handle_exit(RankExit const& exit, std::vector<ExitedRank> const& alike);
    std::optional<RankExit> on_child_exit(pid_t pid, int status);
    void exchange(Contribution part) override;
    void enter(std::size_t local_rank, RankPhase phase) override;
    void abort(std::size_t local_rank, int code, std::string const& message) override;
    void refuse_spawn(std::size_t local_rank) override;
    void refuse(std::size_t local_rank, std::string const& message) override;
    std::string oom_cause_of(int local_rank, int status);
    std::string loader_error_of(std::size_t local_rank, int status, RankPhase state) const;
    struct LibraryCheck {
        std::size_t local_rank;
        bool is_over = false;                    // another library was found
        std::optional<MappedLibrary> served{};   // this one, which a server can serve
    };
    bool is_possible(LibraryCheck const& check) const;
    bool foreign_library_possible() const;
    void check_for_foreign_libraries(Clock::time_point now);
    void report_foreign_library(LibraryCheck const& check, MappedLibrary const& foreign);
    void check_never_initialized();
    int world_rank(std::size_t local_rank) const { return node_ranks_->world_rank(local_rank); }
    std::string processes_of_ranks() const;
    pid_t process_at(std::size_t local_rank) const;
    RankState const* state_of(int rank) const { return node_ranks_ ? node_ranks_->state_of(rank) : nullptr; }

    void check_for_lost_output();
    void output_lost(RankExit const& exit);
    void report_lost_ranks();

    void check_time();
    Clock::time_point next_diagnosis() const;
    void check_for_deadlock(Clock::time_point now);
    void end_with(ProvenDeadlock deadlock);
    void end_with(Report report);
    void print_report(Report const& report);
    void check_for_stall();
    void print_warnings();
    RankStates query_ranks(RankQuery const& query) const;
    void add_positions(Report& report) const;
    std::string waiting_table() const;
    bool print_waiting_ranks();
    void time_out();
    void wait_for_writers();
    std::vector<pid_t> orphans() const;
    bool end_orphans();
    void report_orphans(std::vector<pid_t> const& processes);
    void report_stopped(pid_t pid, int signal);

    Job const& job_;
    Segment* segment_;
    Output& output_;
    Input& input_;
    Signals& signals_;
    Guardian& guardian_;
    std::string host_;
    OtherNodes* other_nodes_;
    RankServers* servers_ = nullptr;
    MemoryMonitor memory_;
    // Empty while no deadlocks are searched for, or after one has been reported.
    std::optional<NodeMonitor> node_monitor_;
    std::optional<DeadlockDetector> deadlocks_;   // only in the launcher that decides
    Warnings warnings_;                           // likewise
    std::optional<StallDetector> stall_detector_;
    StallState stall_;   // sum over all nodes, in the launcher that decides
    bool stall_reported_ = false;

    std::optional<NodeRanks> node_ranks_;   // none if there is no segment
    std::vector<Rank> ranks_;               // by local rank
    int code_ = 0;
    bool all_started_ = false, ending_ = false, killed_ = false;
    int interrupts_ = 0, ending_signal_ = 0;   // ending_signal_: the last ending signal from the user
    std::vector<RankExit> exits_;              // not handled yet, in the launcher that decides
    Clock::time_point exits_due_;              // valid if there are any
    std::vector<Report> reports_;
    std::string end_reason_;
    std::optional<NeverInitialized> never_initialized_;
    // Children that existed before the first rank: the guardian, and those of a shell that executed mpiexec.
    std::set<pid_t> preexisting_;
    std::set<pid_t> terminated_;   // orphaned processes that have been sent SIGTERM
    std::set<pid_t> stopped_;      // stopped by the terminal, and reported
    Clock::time_point started_ = Clock::now(), last_activity_ = Clock::now();
    std::optional<Clock::time_point> kill_at_, writers_until_;
    std::function<std::string(std::size_t)> find_loader_error_;
    std::chrono::milliseconds library_pause_{100};   // between two checks of the files that ranks have mapped
    Clock::time_point next_library_check_ = Clock::now() + library_pause_;
    bool spawn_reported_ = false;
    Exchanges exchanges_;                        // of a job on one node
    std::vector<LibraryCheck> library_checks_;   // of the first rank of each program
};

/// Watches the ranks of one node in a job that our mpiexec has not started, and reports what the supervisor would
/// report. Returns the exit code when no rank of the node is alive. Until then prints, once for all ranks of the node:
/// deadlocks and errors that a rank has found (Diagnostic), after which it asks blocked ranks to end the job
/// (SegmentHeader::end_code); the last messages of ranks that end the job; ranks that end without MPI_Finalize, after
/// which the job ends likewise; and warnings, when all ranks have finalised or an error ends the job. `descriptor` is
/// that of the node's segment. All other descriptors except the standard ones are closed, launch::watchdog_ready_fd
/// after a byte has been written to it. Ranks on other nodes count as able to act. Throws Error if the descriptor is
/// not a segment.
int watch_node(int descriptor);

}   // namespace tutti::launcher
