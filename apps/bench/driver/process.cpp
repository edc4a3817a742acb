// SPDX-License-Identifier: BSD-3-Clause
// Runs other programs. The ranks of some launchers leave their parent's session and process group, so that only the
// process tree shows which processes belong to a run: this process adopts orphans (PR_SET_CHILD_SUBREAPER), and kills
// all of its descendants when a run ends.
#include "process.hpp"

#include "results.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iostream>
#include <sstream>

namespace bench {
namespace {

std::string contents(std::filesystem::path const& name) {
    std::ifstream file(name);
    std::ostringstream out;
    out << file.rdbuf();
    return out.str();
}

double now() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return double(time.tv_sec) + double(time.tv_nsec) * 1e-9;
}

sigset_t watched_signals() {
    sigset_t set;
    sigemptyset(&set);
    for (int signal : {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGPIPE}) sigaddset(&set, signal);
    return set;
}

/// Waits for a signal, at most `remaining` seconds; returns 0 if none has arrived. Does not occupy a core that is being
/// measured. Waits one second at a time, so that hardly any of the time counts in which this process is stopped,
/// because its children are then stopped, too.
int wait_for_signal(double& remaining, std::function<void()> const& each_second) {
    const sigset_t set = watched_signals();
    while (remaining > 0) {
        double const step = std::min(remaining, 1.0), start = now();
        const timespec time{time_t(step), long((step - double(time_t(step))) * 1e9)};
        int const signal = sigtimedwait(&set, nullptr, &time);
        remaining -= std::min(now() - start, step);
        if (signal > 0) return signal;
        each_second();
    }
    return 0;
}

/// True if this is a child of this process. Process ids in /proc may belong to another pid namespace.
bool is_child(pid_t process) {
    siginfo_t info;
    return waitid(P_PID, id_t(process), &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

/// Kills all children, and their children, which this process adopts, until none is left.
void end_all_children() {
    while (true) {
        std::istringstream children(contents("/proc/thread-self/children"));
        for (pid_t child; children >> child;)
            if (is_child(child)) kill(child, SIGKILL);
        if (waitpid(-1, nullptr, 0) < 0 && errno == ECHILD) return;
    }
}

void redirect(int descriptor, std::filesystem::path const& name) {
    int const file = open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || dup2(file, descriptor) < 0) _exit(127);
    close(file);
}

[[noreturn]] void exec_command(Command const& command, TemporaryFolder const& folder, sigset_t signals) {
    sigdelset(&signals, SIGPIPE);
    sigprocmask(SIG_SETMASK, &signals, nullptr);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    for (std::string const& entry : command.environment) putenv(const_cast<char*>(entry.c_str()));
    if (!command.inherit_output) {
        redirect(STDOUT_FILENO, folder.path() / "output");
        redirect(STDERR_FILENO, folder.path() / "errors");
    }
    std::vector<char*> words;
    for (std::string const& word : command.arguments) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    execvp(words[0], words.data());
    _exit(127);
}

/// Returns whether the child has ended in this time. Reaps adopted children meanwhile.
bool wait_for(pid_t child, double seconds, int& status, int& interrupted, std::function<void()> const& each_second) {
    while (true) {
        for (pid_t ended; (ended = waitpid(-1, &status, WNOHANG)) > 0;)
            if (ended == child) return true;
        int const signal = wait_for_signal(seconds, each_second);
        if (signal != SIGCHLD) {
            interrupted = signal;
            return false;
        }
    }
}

void set_pipe_signal(int how) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    sigprocmask(how, &set, nullptr);
}

}   // namespace

HeldPipeSignal::HeldPipeSignal() { set_pipe_signal(SIG_BLOCK); }
HeldPipeSignal::~HeldPipeSignal() {
    std::cout.flush();
    set_pipe_signal(SIG_UNBLOCK);
}

TemporaryFolder::TemporaryFolder() {
    std::error_code error;
    const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
    if (error) throw BenchError("no temporary folder: TMPDIR names none");
    std::string name = (parent / "tutti-bench-XXXXXX").string();
    if (!mkdtemp(name.data())) throw BenchError("no temporary folder " + name + ": " + std::strerror(errno));
    path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

ProcessResult run(Command const& command, double seconds, TemporaryFolder const& folder,
                  std::function<void()> const& each_second) {
    std::signal(SIGCHLD, SIG_DFL);   // if our parent had set SIG_IGN, the child's exit status would be lost
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    const sigset_t watched = watched_signals();
    sigset_t before;
    sigprocmask(SIG_BLOCK, &watched, &before);
    const pid_t child = fork();
    if (child < 0) throw BenchError(std::string("no new process: ") + std::strerror(errno));
    if (child == 0) exec_command(command, folder, before);
    ProcessResult result;
    int status = 0, interrupted = 0;
    bool const ended = wait_for(child, seconds, status, interrupted, each_second);
    if (!ended) {
        int ignored = 0;
        kill(child, SIGTERM);   // the launcher can clean up more than this process
        wait_for(child, 1, status, ignored, [] {});
    }
    end_all_children();
    sigprocmask(SIG_SETMASK, &before, nullptr);
    if (interrupted == SIGPIPE) raise(SIGPIPE);   // pending again, for HeldPipeSignal
    if (interrupted) throw BenchError("interrupted");
    result.timed_out = !ended;
    result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (!command.inherit_output) {
        result.output = contents(folder.path() / "output");
        result.errors = contents(folder.path() / "errors");
    }
    return result;
}

int lines_printed(TemporaryFolder const& folder) {
    const std::string text = contents(folder.path() / "output");
    return int(std::count(text.begin(), text.end(), '\n'));
}

std::string find_in_path(std::string const& program) {
    if (program.find('/') != std::string::npos) return access(program.c_str(), X_OK) == 0 ? program : "";
    char const* path = std::getenv("PATH");
    std::istringstream folders(path ? path : "");
    for (std::string folder; std::getline(folders, folder, ':');) {
        const std::string candidate = (folder.empty() ? "." : folder) + "/" + program;
        if (access(candidate.c_str(), X_OK) == 0) return candidate;
    }
    return "";
}

std::filesystem::path own_folder() {
    std::error_code error;
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
    if (error) throw BenchError("the folder of tutti-bench cannot be found: /proc/self/exe: " + error.message());
    return program.parent_path();
}

std::string last_lines(std::string const& text, int lines) {
    std::size_t at = text.size();
    while (at > 0 && text[at - 1] == '\n') --at;
    const std::size_t end = at;
    for (; at > 0; --at)
        if (text[at - 1] == '\n' && --lines == 0) break;
    return text.substr(at, end - at);
}

}   // namespace bench
