// SPDX-License-Identifier: BSD-3-Clause
// The supervisor's loop, and how a job ends.
#include "launcher/supervise/supervisor.hpp"

#include <algorithm>
#include <cstring>

#include <sys/wait.h>
#include <unistd.h>

#include "launcher/diagnosis/report.hpp"
#include "launcher/start/environment.hpp"
#include "launcher/start/mpi_library.hpp"
#include "launcher/supervise/guardian.hpp"
#include "runtime/base/error.hpp"
#include "runtime/settings/launch.hpp"

namespace tutti::launcher {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr milliseconds grace = 300ms;        // between SIGTERM and SIGKILL
constexpr milliseconds for_writers = 1s;     // for processes that ranks have left behind, to end by themselves
constexpr milliseconds show_after = 100ms;   // before an unfinished line is shown on a terminal
constexpr milliseconds look_again = 100ms;   // between checks of conditions that no descriptor reports
constexpr milliseconds longest_library_pause = 60s;
constexpr milliseconds forever = 24h;

}   // namespace

Supervisor::Supervisor(Job const& job, Segment* segment, OwnLauncher own, std::string host, Elsewhere* elsewhere)
    : job_(job), segment_(segment), output_(own.output), input_(own.input), signals_(own.signals),
      guardian_(own.guardian), host_(std::move(host)), elsewhere_(elsewhere) {
    for (pid_t pid : children()) not_ours_.insert(pid);
    for (unsigned place = 0; segment && place < segment->ranks(); ++place)
        numbers_.push_back(segment->rank_state(place).world_rank);
    output_.ask_for_places(
        [this](int rank, std::vector<std::uint64_t> const& stack) { return place_in(rank, {}, stack); });
    if (job.json_messages) output_.speak_json();
}

void Supervisor::add_rank(pid_t pid) {
    ranks_.push_back({pid, true});
    guardian_.watch(pid);
}

std::optional<int> Supervisor::interrupted() {
    handle_signals();
    return interrupts_ > 0 ? std::optional<int>(passed_on_) : std::nullopt;
}

int Supervisor::alive() const {
    return static_cast<int>(std::count_if(ranks_.begin(), ranks_.end(), [](Rank const& r) { return r.alive; }));
}

bool Supervisor::busy() const { return alive() > 0 || (elsewhere_ && elsewhere_->running()); }

int Supervisor::run() {
    all_started_ = true;
    while (busy()) turn();
    wait_for_writers();
    while (end_leftovers()) turn();
    output_.drain();
    report_lost_ranks();
    tell_warnings();
    Clock::time_point over = Clock::now();
    while (!output_.all_written() && (interrupts_ == 0 || Clock::now() < over + grace)) turn();
    look_for_lost_output();
    return code_;
}

void Supervisor::turn() {
    std::vector<pollfd> set{{signals_.descriptor(), POLLIN, 0}};
    output_.watch(set);
    input_.watch(set);
    if (elsewhere_) elsewhere_->watch(set);
    int found = poll(set.data(), set.size(), static_cast<int>(patience().count()));
    if (found > 0) {
        output_.serve(set);
        input_.serve(set);
        silence_ = Clock::now();
    }
    handle_signals();
    reap();
    if (elsewhere_) elsewhere_->serve(*this);
    look_for_lost_output();
    check_time();
}

/// Returns how long poll may sleep: until the next event that no descriptor reports.
milliseconds Supervisor::patience() const {
    milliseconds wait = forever;
    auto until = [&](Clock::time_point t) {
        wait = std::min(wait, std::max(0ms, std::chrono::ceil<milliseconds>(t - Clock::now())));
    };
    if (kill_at_ && !killed_) until(*kill_at_);
    if (job_.timeout > 0ms && !ending_) until(started_ + job_.timeout);
    if (output_.wants_showing()) until(silence_ + show_after);
    if (output_.holds()) until(output_.due());
    if (writers_until_) until(*writers_until_);
    if (foreign_library_possible()) until(library_look_);
    if (!ending_) until(next_diagnosis());
    if (elsewhere_) wait = std::min(wait, elsewhere_->patience());
    bool looking = missing_ || input_.in_background() || !warned_.empty() || killed_ || interrupts_ > 0;
    return looking ? std::min(wait, look_again) : wait;
}

void Supervisor::check_time() {
    Clock::time_point now = Clock::now();
    if (output_.wants_showing() && now >= silence_ + show_after) output_.show_unfinished();
    if (output_.holds() && now >= output_.due()) output_.write_held();
    if (job_.timeout > 0ms && now >= started_ + job_.timeout && !ending_ && busy()) time_out();
    if (missing_ && !ending_) look_again_for_the_missing();
    if (!ending_) look_for_deadlock(now);
    if (foreign_library_possible() && now >= library_look_) look_for_foreign_library(now);
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

void Supervisor::end_job(int code, std::string const& sentence, bool is_reported) {
    if (ending_) return;
    ending_ = true;
    code_ = code;
    ending_sentence_ = sentence;
    output_.collect();   // a rank's last message is printed before ours
    if (!job_.quiet && !sentence.empty() && !is_reported) output_.say(sentence);
    send(SIGTERM);
    send(SIGCONT);   // a stopped rank would not handle SIGTERM
    if (elsewhere_) elsewhere_->end();
    kill_at_ = Clock::now() + grace;
}

void Supervisor::lose_node(std::string const& sentence) {
    if (!ending_) return end_job(1, sentence);
    if (code_ == 0) code_ = 1;
    ending_sentence_ += (ending_sentence_.empty() ? "" : "; ") + sentence;
    if (!job_.quiet) output_.say(sentence);
}

void Supervisor::handle_signals() {
    while (std::optional<int> signal = signals_.next()) {
        if (*signal == SIGCHLD) continue;                            // reap() checks in each iteration
        if (*signal == SIGINT && interrupts_ == 0) tell_waiting();   // before the ranks receive it
        if (*signal == SIGUSR1 && !tell_waiting()) output_.say("no rank has waited for another one for long");
        if (elsewhere_) elsewhere_->pass_on(*signal);
        deliver(*signal);
        // Stop like any process, for the shell; SIGCONT is forwarded when it arrives. A stop discards a pending one.
        if (*signal == SIGTSTP && !Signals::is_pending(SIGCONT)) raise(SIGSTOP);
    }
}

void Supervisor::deliver(int signal) {
    bool const ending = signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
    if (ending) interrupt(signal);
    else if (signal == SIGUSR1) send_to_catchers(signal);
    else send(signal);   // also SIGTSTP: ranks must not compute while the job is stopped
}

/// Sends the signal only to ranks that handle it. A user who asks for the table of waiting ranks does not want to end
/// ranks that do not handle the signal.
void Supervisor::send_to_catchers(int signal) {
    for (std::size_t place = 0; place < ranks_.size(); ++place) {
        if (!ranks_[place].alive) continue;
        for (pid_t process : std::set{ranks_[place].pid, process_at(place)})
            if (catches(process, signal)) kill(process, signal);
    }
}

/// The first signal is forwarded, so that ranks can clean up; the second one kills them.
void Supervisor::interrupt(int signal) {
    passed_on_ = signal;
    if (++interrupts_ == 1) return send(signal);
    if (!ending_) code_ = 128 + signal;
    ending_ = killed_ = true;
    kill_at_ = Clock::now();
    send(SIGKILL);
    if (elsewhere_) elsewhere_->end();
}

void Supervisor::look_for_lost_output() {
    while (std::optional<std::string> const sentence = output_.next_loss())
        output_lost({Verdict::Kind::output_lost, 1, elsewhere_ ? join("on ", host_, " ", *sentence) : *sentence});
}

/// The ranks continue: their work may be worth more than their output.
void Supervisor::output_lost(Verdict const& verdict) {
    if (elsewhere_ && elsewhere_->report(verdict)) return;
    if (code_ == 0) code_ = verdict.code;
    if (!job_.quiet) output_.say(verdict.sentence);
}

/// Only the first rank is checked, because all ranks load the same libraries. No check is needed once the rank is in
/// our MPI, or our MPI has printed something about it.
bool Supervisor::foreign_library_possible() const {
    if (ranks_.empty() || library_told_ || ending_ || job_.quiet || job_.ranks() == 1) return false;
    RankState const& rank_state = segment_->rank_state(0);
    return ranks_[0].alive && world_rank(0) == 0 &&
           rank_state.state.load(std::memory_order_relaxed) == RankPhase::absent &&
           rank_state.last_words.state.load(std::memory_order_relaxed) == NotedWords::none;
}

/// Programs linked with another MPI library are detected before the start. Scripts and interpreters are not, and are
/// left running: whether they will call MPI_Init of a library that they have loaded cannot be known.
void Supervisor::look_for_foreign_library(Clock::time_point now) {
    std::string const file = mapped_foreign_library(ranks_[0].pid);
    library_pause_ = std::min(2 * library_pause_, longest_library_pause);
    library_look_ = now + library_pause_;
    if (file.empty()) return;
    library_told_ = true;
    output_.say(join("rank 0, process ", ranks_[0].pid, ", has loaded ", file,
                     ", which is not Tutti's: with it each rank is alone in a world of its own",
                     has_our_abi(file.substr(file.rfind('/') + 1)) ? "; --drop-in puts Tutti's in front" : ""));
}

/// Reports processes stopped by SIGTTIN or SIGTTOU; other stops are intended by a user. Ranks have left the terminal,
/// but agents have not: they may ask for a password.
void Supervisor::report_stopped(pid_t pid, int signal) {
    if ((signal != SIGTTIN && signal != SIGTTOU) || job_.quiet || !stopped_.insert(pid).second) return;
    output_.say(
        join(running_process(pid), " was stopped by ", signal_words(signal),
             ": it wants to use the terminal, which processes in the background cannot; it goes on when it gets "
             "SIGCONT, and an agent such as ssh needs a key instead of a password"));
}

/// Gives leftover processes that can still print time to end: a helper of a rank that is about to end by itself is not
/// an error of the program.
void Supervisor::wait_for_writers() {
    auto const any = [this] {
        std::set<ino_t> const pipes = output_.open_pipes();
        return std::ranges::any_of(leftovers(), [&](pid_t pid) { return has_open(pid, pipes); });
    };
    writers_until_ = Clock::now() + for_writers;
    while (!ending_ && interrupts_ == 0 && Clock::now() < *writers_until_ && any()) turn();
    writers_until_.reset();
}

std::vector<pid_t> Supervisor::leftovers() const {
    std::vector<pid_t> left = children();
    std::erase_if(left, [&](pid_t pid) { return not_ours_.contains(pid); });
    return left;
}

/// If a rank ended successfully and left a process behind, it may have been a script that did not wait for the program
/// that it had started. If that process could still print, its work was cut off, which costs the job its success.
void Supervisor::report_leftovers(std::vector<pid_t> const& processes) {
    if (ending_ || interrupts_ > 0 || processes.empty()) return;
    std::set<ino_t> const pipes = output_.open_pipes();
    std::string const ours = join(launch::launcher_variable, "=", launcher_name(getpid()));
    std::string working, others;
    for (pid_t pid : processes) {
        std::string const words = running_process(pid);
        bool const works = has_open(pid, pipes);
        // Such processes are not an error: an agent, for example, may keep one for later use.
        if (words.empty() || (!works && !has_entry(pid, ours))) continue;
        std::string& list = works ? working : others;
        list += (list.empty() ? "" : ", ") + words;
    }
    std::string const where = elsewhere_ ? " on " + host_ : "";
    if (!working.empty())
        output_lost(
            {Verdict::Kind::output_lost, 1,
             join("the ranks", where, " have ended and left behind ", working,
                  ", which could still print and was ended with the job; a script must wait for what it starts")});
    else if (!others.empty() && !job_.quiet)
        output_.say(join("the ranks", where, " have ended and left behind ", others, ", which was ended with the job"));
}

/// Ends leftover processes. Returns true while there are any.
bool Supervisor::end_leftovers() {
    std::vector<pid_t> const left = leftovers();
    if (warned_.empty()) report_leftovers(left);
    bool any = false;
    for (pid_t pid : left) {
        any = true;
        bool first_time = warned_.insert(pid).second;
        if (kill_at_ && Clock::now() >= *kill_at_) kill(pid, SIGKILL);
        else if (first_time) kill(pid, SIGTERM), kill(pid, SIGCONT);
    }
    if (any && !kill_at_) kill_at_ = Clock::now() + grace;
    return any;
}

}   // namespace tutti::launcher
