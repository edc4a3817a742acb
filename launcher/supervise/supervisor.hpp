// SPDX-License-Identifier: BSD-3-Clause
// The life of a job after its start: one poll over output, input, signals and deaths, until no process is left.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <sys/types.h>

#include "launcher/base/job.hpp"
#include "launcher/diagnosis/node_watch.hpp"
#include "launcher/diagnosis/stillness.hpp"
#include "launcher/diagnosis/unblocked_ranks.hpp"
#include "launcher/diagnosis/watch.hpp"
#include "launcher/streams/input.hpp"
#include "launcher/streams/output.hpp"
#include "launcher/supervise/elsewhere.hpp"
#include "launcher/supervise/guardian.hpp"
#include "launcher/supervise/memory_watch.hpp"
#include "launcher/supervise/signals.hpp"
#include "launcher/supervise/verdict.hpp"
#include "runtime/memory/segment.hpp"

namespace tutti::launcher {

class Supervisor {
public:
    /// `segment` is null where no rank will be added; `elsewhere` in a job on one node. `host`: this node's name.
    Supervisor(Job const& job, Segment* segment, OwnLauncher own, std::string host, Elsewhere* elsewhere);

    /// The next rank has been started as this process.
    void add_rank(pid_t pid);

    /// While ranks are being started: the signal by which the user ends the job before it has begun, if one has come.
    std::optional<int> interrupted();

    /// From now on, time and again: whether ranks wait in vain, or have found a mistake of the program. Such a job is
    /// ended with exit code 125, or told and left alone (Job::stand_on_deadlock).
    void look_for_mistakes();

    /// Says why the loader could not start the rank at this place; asked when a rank has ended as the loader ends one.
    void when_not_loaded(std::function<std::string(std::size_t place)> why) { why_not_loaded_ = std::move(why); }

    /// Ends the job: SIGTERM now, SIGKILL after the grace. Only the first reason counts.
    void end_job(int code, std::string const& sentence, bool is_reported = false);

    /// A node is lost, which ends the job. It is reported also while the job ends, since several nodes may be lost at
    /// the same time, and a rank's failure may be the consequence.
    void lose_node(std::string const& sentence);

    /// A rank has not ended well, here or elsewhere: ends the job if it must, or leaves that to whoever decides.
    void conclude(Verdict const& verdict);
    /// The same for whatever else is wrong, and told in any case.
    void fail(Verdict const& verdict);
    /// A rank somewhere has ended without MPI_Init: ends the job when one of this node is in MPI.
    void look_for_the_missing(Missing const& missing);
    /// A signal of the user for the ranks, as told by mpiexec to its daemons.
    void deliver(int signal);
    /// A mistake of the program. One that is certain is told and ends the job, a warning is told at its end; or that
    /// is left to whoever decides.
    void hear(Report report);
    /// What a node tells of its blocked ranks.
    void hear(NodeNews const& news);
    /// Asks the suspects on this node; the answer is reported, or heard, later.
    void ask(Question const& question);
    /// What is known of ranks of this node.
    RanksSeen see_here(Inquiry const& inquiry) const;

    /// What has been told of the job: mistakes of the program, and why it was ended.
    std::vector<Report> const& told() const { return told_; }
    std::string const& ending() const { return ending_sentence_; }

    /// Until the last process has gone and all output is delivered. The exit code of mpiexec.
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
    // None: nobody looks for deadlocks, or one has been told.
    std::optional<NodeWatch> node_watch_;
    std::optional<DeadlockWatch> deadlocks_;   // where it is decided
    Warnings warnings_;                        // likewise
    ReportDelay finding_delay_;                // of errors that ranks of this node have found
    mutable KnownLines lines_;
    std::optional<Stillness> stillness_;
    Still still_;   // of all nodes together, where it is decided
    bool still_told_ = false;

    std::vector<int>
        numbers_;               // in the world, of each place on this node, as they were before ranks could write there
    std::vector<Rank> ranks_;   // by place on this node
    int code_ = 0;
    bool all_started_ = false, ending_ = false, killed_ = false;
    int interrupts_ = 0, passed_on_ = 0;   // passed_on_: the last ending signal that ranks got from the user
    std::vector<Report> told_;
    std::string ending_sentence_;
    std::optional<Missing> missing_;
    std::set<pid_t> not_ours_;   // children before the first rank: the guardian, a shell's that became us
    std::set<pid_t> warned_;     // leftovers that have got SIGTERM
    std::set<pid_t> stopped_;    // by the terminal, and reported
    Clock::time_point started_ = Clock::now(), silence_ = Clock::now();
    std::optional<Clock::time_point> kill_at_, writers_until_;
    std::function<std::string(std::size_t)> why_not_loaded_;
    std::chrono::milliseconds library_pause_{100};   // between two looks at what ranks have mapped
    Clock::time_point library_look_ = Clock::now() + library_pause_;
    bool library_told_ = false;
};

}   // namespace tutti::launcher
