// SPDX-License-Identifier: BSD-3-Clause
// The life of a job after its start: one poll over output, input, signals and deaths, until no process is left.
#pragma once

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <sys/types.h>

#include "launcher/guardian.hpp"
#include "launcher/input.hpp"
#include "launcher/job.hpp"
#include "launcher/memory_watch.hpp"
#include "launcher/output.hpp"
#include "launcher/signals.hpp"
#include "launcher/verdict.hpp"
#include "runtime/segment.hpp"

namespace tutti::launcher {

class Supervisor {
public:
    Supervisor(Job const& job, Segment& segment, Output& output, Input& input, Signals& signals,
               Guardian& guardian);

    /// The next rank has been started as this process.
    void add_rank(pid_t pid);

    /// Ends the job: SIGTERM now, SIGKILL after the grace. Only the first reason counts.
    void end_job(int code, std::string const& sentence);

    /// Until the last process has gone and all output is delivered. The exit code of mpiexec.
    int run();

private:
    using Clock = std::chrono::steady_clock;
    struct Rank {
        pid_t pid;
        bool alive;
    };

    int alive() const;
    void turn();
    std::chrono::milliseconds patience() const;

    void handle_signals();
    void interrupt(int signal);
    void stop();
    void send(int signal);

    void bury();
    std::optional<Verdict> buried(pid_t pid, int status);
    std::string what_ran_out(int rank, int status);
    void conclude(Verdict const& verdict);
    void look_for_the_missing();

    void check_time();
    void time_out();
    std::string waiting_reasons() const;
    bool end_leftovers();

    Job const& job_;
    Segment& segment_;
    Output& output_;
    Input& input_;
    Signals& signals_;
    Guardian& guardian_;
    std::string host_;
    MemoryWatch memory_;

    std::vector<Rank> ranks_;
    int code_ = 0;
    bool ending_ = false, killed_ = false;
    int interrupts_ = 0, passed_on_ = 0;           // passed_on_: the last ending signal that ranks got from the user
    std::optional<int> gone_without_mpi_;          // a rank that ended well and never called MPI_Init
    std::set<pid_t> not_ours_;   // children before the first rank: the guardian, a shell's that became us
    std::set<pid_t> warned_;                       // leftovers that have got SIGTERM
    Clock::time_point started_ = Clock::now(), silence_ = Clock::now();
    std::optional<Clock::time_point> kill_at_;
};

}  // namespace tutti::launcher
