// SPDX-License-Identifier: BSD-3-Clause
// Supervises a job after its start: one loop polls for output, input, signals and ended processes until no process is
// left. ends.cpp handles the ends of ranks, supervise_diagnosis.cpp deadlocks and other reports.
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
#include "launcher/diagnosis/unblocked_ranks.hpp"
#include "launcher/supervise/guardian.hpp"
#include "launcher/supervise/input.hpp"
#include "launcher/supervise/other_nodes.hpp"
#include "launcher/supervise/output.hpp"
#include "launcher/supervise/rank_exit.hpp"
#include "launcher/supervise/signals.hpp"
#include "runtime/memory/segment.hpp"

namespace tutti::launcher {

class Supervisor {
public:
    /// `segment` is null if no rank will be added, `elsewhere` if the job runs on one node. `host`: the name of this
    /// node.
    Supervisor(Job const& job, Segment* segment, OwnLauncher own, std::string host, Elsewhere* elsewhere);

    /// Adds the next rank, which has been started as this process.
    void add_rank(pid_t pid);

    /// Called while ranks are being started. Returns the signal by which the user has ended the job, if one has
    /// arrived.
    std::optional<int> interrupted();

    /// Enables the search for deadlocks and for errors that ranks have found. Such a job is ended with exit code 125,
    /// or reported and left alone (Job::stand_on_deadlock).
    void look_for_mistakes();

    /// Sets a function that returns why the loader could not start the rank at this local rank. It is called when a
    /// rank has ended in the way in which the loader ends one.
    void when_not_loaded(std::function<std::string(std::size_t place)> why) { why_not_loaded_ = std::move(why); }

    /// Ends the job: SIGTERM now, SIGKILL after the grace period. Only the first reason counts.
    void end_job(int code, std::string const& sentence, bool is_reported = false);

    /// Ends the job because a node is lost. Reported even if the job is already ending, since several nodes may be lost
    /// at the same time, and a rank's failure may be the consequence.
    void lose_node(std::string const& sentence);

    /// A rank has ended with an error, here or on another node: ends the job if necessary, or leaves the decision to
    /// the launcher that makes it.
    void conclude(Verdict const& verdict);
    /// Ends the job because of another failure, and reports it in any case; or leaves the decision to the launcher that
    /// makes it.
    void fail(Verdict const& verdict);
    /// A rank on any node has ended without MPI_Init: ends the job as soon as a rank of this node is in MPI.
    void look_for_the_missing(Missing const& missing);
    /// Delivers a signal of the user to the ranks. Daemons receive these from mpiexec.
    void deliver(int signal);
    /// Handles an error of the program. A certain error is reported and ends the job, a warning is reported at its end;
    /// if another launcher decides, both are sent to it.
    void hear(Report report);
    /// Handles the news of a node about its blocked ranks.
    void hear(NodeNews const& news);
    /// Asks the suspects on this node; the answer is part of later news.
    void ask(Question const& question);
    /// Returns the state of ranks of this node.
    RanksSeen see_here(Inquiry const& inquiry) const;

    /// Return what has been reported about the job: the errors of the program, and the reason for its end (empty:
    /// none).
    std::vector<Report> const& told() const { return told_; }
    std::string const& ending() const { return ending_sentence_; }

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
    void turn();
    std::chrono::milliseconds patience() const;

    void handle_signals();
    void interrupt(int signal);
    void send(int signal);
    void send_to_catchers(int signal);

    void reap();
    std::vector<Verdict> reap_ended();
    void gather_ends(std::vector<Verdict>& verdicts);
    Report report_of_ends_like(Verdict const& worst, std::vector<Verdict> const& verdicts) const;
    std::optional<Verdict> buried(pid_t pid, int status);
    std::string what_ran_out(int place, int status);
    std::string what_was_not_loaded(std::size_t place, int status, RankPhase state) const;
    bool foreign_library_possible() const;
    void look_for_foreign_library(Clock::time_point now);
    void look_again_for_the_missing();
    int world_rank(std::size_t place) const { return numbers_[place]; }
    pid_t process_at(std::size_t place) const;
    std::optional<std::size_t> place_of_rank(int rank) const;
    RankState const* state_of(int rank) const;
    Place place_in(int rank, std::string_view call, std::vector<std::uint64_t> const& noted) const;

    void look_for_lost_output();
    void output_lost(Verdict const& verdict);
    void report_lost_ranks();

    void check_time();
    Clock::time_point next_diagnosis() const;
    void look_for_deadlock(Clock::time_point now);
    void look_for_findings(Clock::time_point now);
    void end_by(ProvenDeadlock deadlock);
    void end_by(Report report);
    Report read_finding(Finding const& finding) const;
    void tell(Report const& report);
    void look_for_stillness();
    void tell_warnings();
    std::optional<Report> with_waiting(std::optional<Report> report) const;
    std::optional<PlacedRank> blocked_at(std::size_t place, bool or_polling) const;
    RanksSeen see(Inquiry const& inquiry) const;
    void add_places(Report& report) const;
    std::string waiting_table() const;
    bool tell_waiting();
    void time_out();
    void wait_for_writers();
    std::vector<pid_t> leftovers() const;
    bool end_leftovers();
    void report_leftovers(std::vector<pid_t> const& processes);
    void report_stopped(pid_t pid, int signal);

    Job const& job_;
    Segment* segment_;
    Output& output_;
    Input& input_;
    Signals& signals_;
    Guardian& guardian_;
    std::string host_;
    Elsewhere* elsewhere_;
    MemoryWatch memory_;
    // Empty while no deadlocks are searched for, or after one has been reported.
    std::optional<NodeWatch> node_watch_;
    std::optional<DeadlockWatch> deadlocks_;   // only in the launcher that decides
    Warnings warnings_;                        // likewise
    ReportDelay finding_delay_;                // for errors that ranks of this node have found
    mutable KnownLines lines_;
    std::optional<Stillness> stillness_;
    Still still_;   // sum over all nodes, in the launcher that decides
    bool still_told_ = false;

    std::vector<int> numbers_;   // world rank of each local rank, read before ranks could write to the segment
    std::vector<Rank> ranks_;    // by local rank
    int code_ = 0;
    bool all_started_ = false, ending_ = false, killed_ = false;
    int interrupts_ = 0, passed_on_ = 0;   // passed_on_: the last ending signal from the user
    std::vector<Report> told_;
    std::string ending_sentence_;
    std::optional<Missing> missing_;
    // Children that existed before the first rank: the guardian, and those of a shell that executed mpiexec.
    std::set<pid_t> not_ours_;
    std::set<pid_t> warned_;    // leftover processes that have been sent SIGTERM
    std::set<pid_t> stopped_;   // stopped by the terminal, and reported
    Clock::time_point started_ = Clock::now(), silence_ = Clock::now();
    std::optional<Clock::time_point> kill_at_, writers_until_;
    std::function<std::string(std::size_t)> why_not_loaded_;
    std::chrono::milliseconds library_pause_{100};   // between two checks of the files that ranks have mapped
    Clock::time_point library_look_ = Clock::now() + library_pause_;
    bool library_told_ = false;
};

}   // namespace tutti::launcher
