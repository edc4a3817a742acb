// SPDX-License-Identifier: BSD-3-Clause
// The supervisor's loop, and how a job ends.
#include "launcher/supervise/supervisor.hpp"

#include <algorithm>
#include <cstring>

#include <sys/wait.h>
#include <unistd.h>

#include "launcher/base/text.hpp"
#include "launcher/diagnosis/report.hpp"
#include "launcher/start/mpi_library.hpp"
#include "launcher/start/spawn.hpp"
#include "launcher/supervise/guardian.hpp"
#include "runtime/base/error.hpp"
#include "runtime/settings/launch.hpp"
#include "topo/files.hpp"

namespace tutti::launcher {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr milliseconds grace = 300ms;        // between SIGTERM and SIGKILL
constexpr milliseconds writers_grace = 1s;   // for processes that ranks have left behind, to end by themselves
constexpr milliseconds unfinished_line_delay = 100ms;      // before an unfinished line is shown on a terminal
constexpr milliseconds condition_check_interval = 100ms;   // between checks of conditions that no descriptor reports
constexpr milliseconds longest_library_pause = 60s;
constexpr std::size_t most_library_checks = 16;
constexpr milliseconds forever = 24h;

bool is_first_of_program(Job const& job, int rank) {
    int first = 0;
    return std::ranges::any_of(job.programs,
                               [&](Program const& one) { return std::exchange(first, first + one.ranks) == rank; });
}

/// Returns how to run a program that has loaded another MPI library.
std::string remedy_for(MappedLibrary const& foreign) {
    if (has_our_abi(foreign.file.substr(foreign.file.rfind('/') + 1))) return "--drop-in loads Tutti's library instead";
    std::string const mpicc = topo::program_folder() + "/mpicc";
    if (!foreign.by_mpi4py) return join("compile the program, or the library that uses MPI, with ", mpicc);
    return join("build mpi4py with Tutti, for example by `python3 -m venv mpi && MPICC=", shell_quoted(mpicc),
                " mpi/bin/pip install --no-binary mpi4py mpi4py`, and run the script with mpi/bin/python3");
}

}   // namespace

Supervisor::Supervisor(Job const& job, Segment* segment, LauncherObjects objects, std::string host,
                       OtherNodes* other_nodes)
    : job_(job), segment_(segment), output_(objects.output), input_(objects.input), signals_(objects.signals),
      guardian_(objects.guardian), host_(std::move(host)), other_nodes_(other_nodes) {
    for (pid_t pid : children()) preexisting_.insert(pid);
    auto const process_of = [this](unsigned local_rank) {
        return local_rank < ranks_.size() ? process_at(local_rank) : 0;
    };
    if (segment) node_ranks_.emplace(*segment, process_of);
    output_.set_position_finder([this](LocatedCall const& call) {
        return node_ranks_ ? node_ranks_->position_of({.rank = call.rank, .stack = call.stack}) : SourcePosition{};
    });
    if (job.json_messages) output_.use_json();
}

void Supervisor::add_rank(pid_t pid) {
    std::size_t const local_rank = ranks_.size();
    ranks_.push_back({pid, true});
    if (library_checks_.size() < most_library_checks && is_first_of_program(job_, world_rank(local_rank)))
        library_checks_.push_back({local_rank});
    guardian_.add_group(pid);
}

std::optional<int> Supervisor::interrupted() {
    handle_signals();
    return interrupts_ > 0 ? std::optional<int>(ending_signal_) : std::nullopt;
}

int Supervisor::alive() const {
    return static_cast<int>(std::count_if(ranks_.begin(), ranks_.end(), [](Rank const& r) { return r.alive; }));
}

bool Supervisor::busy() const { return alive() > 0 || (other_nodes_ && other_nodes_->running()); }

int Supervisor::run() {
    all_started_ = true;
    while (busy() || !exits_.empty()) run_once();
    wait_for_writers();
    while (end_orphans()) run_once();
    output_.drain();
    report_lost_ranks();
    print_warnings();
    Clock::time_point over = Clock::now();
    while (!output_.all_written() && (interrupts_ == 0 || Clock::now() < over + grace)) run_once();
    check_for_lost_output();
    return code_;
}

void Supervisor::run_once() {
    std::vector<pollfd> set{{signals_.descriptor(), POLLIN, 0}};
    output_.watch(set);
    input_.watch(set);
    if (servers_) servers_->watch(set);
    if (other_nodes_) other_nodes_->watch(set);
    int found = poll(set.data(), set.size(), static_cast<int>(poll_timeout().count()));
    if (found > 0) {
        output_.serve(set);
        input_.serve(set);
        if (servers_) servers_->serve(set, *this);
        last_activity_ = Clock::now();
    }
    handle_signals();
    reap();
    if (other_nodes_) other_nodes_->serve(*this);
    check_for_lost_output();
    check_time();
}

/// Returns how long poll may sleep: until the next event that no descriptor reports.
milliseconds Supervisor::poll_timeout() const {
    milliseconds wait = forever;
    auto until = [&](Clock::time_point t) {
        wait = std::min(wait, std::max(0ms, std::chrono::ceil<milliseconds>(t - Clock::now())));
    };
    if (kill_at_ && !killed_) until(*kill_at_);
    if (job_.timeout > 0ms && !ending_) until(started_ + job_.timeout);
    if (output_.has_line_to_show()) until(last_activity_ + unfinished_line_delay);
    if (output_.has_delayed()) until(output_.due());
    if (writers_until_) until(*writers_until_);
    if (foreign_library_possible()) until(next_library_check_);
    if (!exits_.empty()) until(busy() ? exits_due_ : Clock::now());
    if (!ending_) until(next_diagnosis());
    if (other_nodes_) wait = std::min(wait, other_nodes_->poll_timeout());
    bool needs_checks =
        never_initialized_ || input_.in_background() || !terminated_.empty() || killed_ || interrupts_ > 0;
    return needs_checks ? std::min(wait, condition_check_interval) : wait;
}

void Supervisor::check_time() {
    Clock::time_point now = Clock::now();
    if (output_.has_line_to_show() && now >= last_activity_ + unfinished_line_delay) output_.show_unfinished();
    if (output_.has_delayed() && now >= output_.due()) output_.write_delayed();
    if (!exits_.empty() && (now >= exits_due_ || !busy())) handle_exits();
    bool const may_end = !ending_ && exits_.empty();   // what happens after an exit may be its consequence
    if (job_.timeout > 0ms && now >= started_ + job_.timeout && may_end && busy()) time_out();
    if (never_initialized_ && may_end) check_never_initialized();
    if (may_end) check_for_deadlock(now);
    if (foreign_library_possible() && now >= next_library_check_) check_for_foreign_libraries(now);
    if (kill_at_ && now >= *kill_at_) {
        killed_ = true;
        send(SIGKILL);
    }
}

void Supervisor::send(int signal) {
    for (Rank const& rank : ranks_) {
        if (!rank.alive) continue;
        kill(-rank.pid, signal);
        if (getpgid(rank.pid) != rank.pid) kill(rank.pid, signal);   // it has left its group
    }
}

void Supervisor::end_job(int code, std::string const& message) {
    if (ending_) return;
    ending_ = true;
    code_ = code;
    end_reason_ = message;
    output_.collect();   // a rank's last message is printed before ours
    if (!job_.quiet && !message.empty()) output_.print_message(message);
    send(SIGTERM);
    send(SIGCONT);   // a stopped rank would not handle SIGTERM
    if (other_nodes_) other_nodes_->end_ranks();
    kill_at_ = Clock::now() + grace;
}

void Supervisor::lose_node(std::string const& message) {
    handle_exits();
    if (!ending_) return end_job(1, message);
    if (code_ == 0) code_ = 1;
    end_reason_ += (end_reason_.empty() ? "" : "; ") + message;
    if (!job_.quiet) output_.print_message(message);
}

void Supervisor::handle_signals() {
    while (std::optional<int> signal = signals_.next()) {
        if (*signal == SIGCHLD) continue;                                   // reap() checks in each iteration
        if (*signal == SIGINT && interrupts_ == 0) print_waiting_ranks();   // before the ranks receive it
        if (*signal == SIGUSR1 && !print_waiting_ranks())
            output_.print_message("no rank has waited for another one for long");
        if (other_nodes_) other_nodes_->forward_signal(*signal);
        deliver(*signal);
        // Stop like any process, for the shell; SIGCONT is forwarded when it arrives. A stop discards a pending one.
        if (*signal == SIGTSTP && !Signals::is_pending(SIGCONT)) raise(SIGSTOP);
    }
}

void Supervisor::deliver(int signal) {
    bool const ending = signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
    if (ending) interrupt(signal);
    else if (signal == SIGUSR1) send_to_handlers(signal);
    else send(signal);   // also SIGTSTP: ranks must not compute while the job is stopped
}

/// Sends the signal only to ranks that handle it. A user who asks for the table of waiting ranks does not want to end
/// ranks that do not handle the signal.
void Supervisor::send_to_handlers(int signal) {
    for (std::size_t local_rank = 0; local_rank < ranks_.size(); ++local_rank) {
        if (!ranks_[local_rank].alive) continue;
        for (pid_t process : std::set{ranks_[local_rank].pid, process_at(local_rank)})
            if (has_handler(process, signal)) kill(process, signal);
    }
}

/// The first signal is forwarded, so that ranks can clean up; the second one kills them.
void Supervisor::interrupt(int signal) {
    ending_signal_ = signal;
    if (++interrupts_ == 1) return send(signal);
    if (!ending_) code_ = 128 + signal;
    ending_ = killed_ = true;
    kill_at_ = Clock::now();
    send(SIGKILL);
    if (other_nodes_) other_nodes_->end_ranks();
}

void Supervisor::check_for_lost_output() {
    while (std::optional<std::string> const message = output_.next_loss())
        output_lost({RankExit::Kind::output_lost, 1, other_nodes_ ? join("on ", host_, " ", *message) : *message});
}

/// The ranks continue: their work may be worth more than their output.
void Supervisor::output_lost(RankExit const& exit) {
    if (other_nodes_ && other_nodes_->report(exit)) return;
    if (code_ == 0) code_ = exit.code;
    if (!job_.quiet) output_.print_message(exit.message);
}

/// Only the first rank of each program is checked, because all its ranks load the same libraries. No check is needed
/// once the rank is in our MPI or in that of a server, or our MPI has printed something about it.
bool Supervisor::is_possible(LibraryCheck const& check) const {
    RankState const& rank_state = segment_->rank_state(static_cast<unsigned>(check.local_rank));
    return !check.is_over && ranks_[check.local_rank].alive &&
           rank_state.state.load(std::memory_order_relaxed) == RankPhase::absent &&
           rank_state.abort_message.state.load(std::memory_order_relaxed) == AbortMessage::none;
}

bool Supervisor::foreign_library_possible() const {
    bool const has_effect = !job_.quiet || (servers_ && !servers_->offer().obstacle.empty());
    return has_effect && !ending_ && job_.ranks() > 1 &&
           std::ranges::any_of(library_checks_, [this](LibraryCheck const& one) { return is_possible(one); });
}

/// Scripts and interpreters that have loaded another library are left running, because whether they will call its
/// MPI_Init cannot be known. If a server can serve them, they have until the end of the job to use it.
void Supervisor::check_for_foreign_libraries(Clock::time_point now) {
    library_pause_ = std::min(2 * library_pause_, longest_library_pause);
    next_library_check_ = now + library_pause_;
    for (LibraryCheck& check : library_checks_) {
        if (!is_possible(check)) continue;
        MappedLibrary foreign = mapped_foreign_library(ranks_[check.local_rank].pid);
        if (foreign.file.empty()) continue;
        check.is_over = true;
        if (servers_ && servers_->serves(foreign.file)) check.served = std::move(foreign);
        else report_foreign_library(check, foreign);
    }
}

/// If a server was to be offered and could not be, the job fails: its ranks would each do the work of all.
void Supervisor::report_foreign_library(LibraryCheck const& check, MappedLibrary const& foreign) {
    std::string const message =
        join("rank ", world_rank(check.local_rank), ", process ", ranks_[check.local_rank].pid, ", has loaded ",
             foreign.file, ", which is not Tutti's: each rank is alone in a world of its own");
    bool const needs_pmix = uses_pmix(foreign.file.substr(foreign.file.rfind('/') + 1));
    std::string const obstacle = servers_ && needs_pmix ? servers_->offer().obstacle : "";
    if (obstacle.empty()) {
        if (!job_.quiet) output_.print_message(join(message, "; ", remedy_for(foreign)));
    } else {
        output_lost({RankExit::Kind::never_joined, 1,
                     join(message, ", because it needs PMIx to join the job, which cannot be offered: ", obstacle)});
    }
}

/// Reports processes stopped by SIGTTIN or SIGTTOU; other stops are intended by a user. Ranks have left the terminal,
/// but agents have not: they may ask for a password.
void Supervisor::report_stopped(pid_t pid, int signal) {
    if ((signal != SIGTTIN && signal != SIGTTOU) || job_.quiet || !stopped_.insert(pid).second) return;
    output_.print_message(join(running_process(pid), " was stopped by ", describe_signal(signal),
                               ": background processes cannot use the terminal; it continues when it receives "
                               "SIGCONT, and an agent such as ssh needs a key instead of a password"));
}

/// Gives orphaned processes that can still print time to end: a helper of a rank that is about to end by itself is not
/// an error of the program.
void Supervisor::wait_for_writers() {
    auto const any = [this] {
        std::set<ino_t> const pipes = output_.open_pipes();
        return std::ranges::any_of(orphans(), [&](pid_t pid) { return has_pipe_open(pid, pipes); });
    };
    writers_until_ = Clock::now() + writers_grace;
    while (!ending_ && interrupts_ == 0 && Clock::now() < *writers_until_ && any()) run_once();
    writers_until_.reset();
}

std::vector<pid_t> Supervisor::orphans() const {
    std::vector<pid_t> left = children();
    std::erase_if(left, [&](pid_t pid) { return preexisting_.contains(pid); });
    return left;
}

/// If a rank ended successfully and left a process behind, it may have been a script that did not wait for the program
/// that it had started. If that process could still print, its work was cut off, which costs the job its success.
void Supervisor::report_orphans(std::vector<pid_t> const& processes) {
    if (ending_ || interrupts_ > 0 || processes.empty()) return;
    std::set<ino_t> const pipes = output_.open_pipes();
    std::string const ours = join(launch::launcher_variable, "=", launcher_name(getpid()));
    std::string working, others;
    for (pid_t pid : processes) {
        std::string const description = running_process(pid);
        bool const works = has_pipe_open(pid, pipes);
        // Such processes are not an error: an agent, for example, may keep one for later use.
        if (description.empty() || (!works && !has_environment_entry(pid, ours))) continue;
        std::string& list = works ? working : others;
        list += (list.empty() ? "" : ", ") + description;
    }
    std::string const where = other_nodes_ ? " on " + host_ : "";
    if (!working.empty())
        output_lost({RankExit::Kind::output_lost, 1,
                     join("the ranks", where, " have ended but left running: ", working,
                          ", which could still print and was ended with the job; a script must wait for the processes "
                          "that it starts")});
    else if (!others.empty() && !job_.quiet)
        output_.print_message(
            join("the ranks", where, " have ended but left running: ", others, ", which was ended with the job"));
}

/// Ends orphaned processes. Returns true while there are any.
bool Supervisor::end_orphans() {
    std::vector<pid_t> const left = orphans();
    if (terminated_.empty()) report_orphans(left);
    bool any = false;
    for (pid_t pid : left) {
        any = true;
        bool first_time = terminated_.insert(pid).second;
        if (kill_at_ && Clock::now() >= *kill_at_) kill(pid, SIGKILL);
        else if (first_time) kill(pid, SIGTERM), kill(pid, SIGCONT);
    }
    if (any && !kill_at_) kill_at_ = Clock::now() + grace;
    return any;
}

}   // namespace tutti::launcher
