// SPDX-License-Identifier: BSD-3-Clause
// Starts the watchdog process, also from a signal handler, and ends the job when it requests that.
#include "runtime/job/watchdog.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/process_identity.hpp"
#include "runtime/job/join_job.hpp"
#include "runtime/memory/segment.hpp"
#include "runtime/settings/launch.hpp"
#include "runtime/wait/wait.hpp"

namespace tutti {
namespace {

constexpr std::int64_t start_after_ns = 1'000'000'000;   // most long waits are shorter, and need no other process

// Prepared for a signal handler, which must not allocate memory; used by the rank that starts the watchdog.
std::array<char, PATH_MAX> program{};   ///< its path; empty: unknown
std::array<char const*, 4096> program_environment{};

void find_program() {
    std::string const path = daemon_program();
    if (path.size() < program.size() && access(path.c_str(), X_OK) == 0) std::ranges::copy(path, program.begin());
}

/// Without LD_PRELOAD: preloaded libraries are for ranks alone.
void copy_environment() {
    constexpr char preload[] = "LD_PRELOAD=";
    std::size_t n = 0;
    for (char** variable = environ; *variable && n + 1 < program_environment.size(); ++variable)
        if (std::strncmp(*variable, preload, sizeof preload - 1) != 0) program_environment[n++] = *variable;
    program_environment[n] = nullptr;
}

void pass_descriptor(int descriptor, int number) {
    if (descriptor == number) fcntl(number, F_SETFD, 0);
    else dup2(descriptor, number);
}

/// Runs in the child, which shares this process's memory until it executes another program, and changes none of it.
[[noreturn]] void exec_watchdog(int segment, int ready_fd) {
    int const null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    pass_descriptor(null_fd, STDIN_FILENO);
    pass_descriptor(null_fd, STDOUT_FILENO);   // the reader of the program's output waits for its end
    pass_descriptor(segment, launch::watchdog_segment_fd);
    pass_descriptor(ready_fd, launch::watchdog_ready_fd);
    char const* const arguments[] = {"tutti-daemon", "--watch", nullptr};
    execve(program.data(), const_cast<char* const*>(arguments), const_cast<char* const*>(program_environment.data()));
    _exit(127);
}

/// Starts the watchdog process. It leaves this process's children before it watches, because the program may wait for
/// children of its own. It confirms by a pipe that it watches: if the program ignores SIGCHLD, or waits for any
/// child, waitpid() does not return here how a child ended. Also called by a signal handler; uses vfork(), because
/// posix_spawn() allocates memory and fork() copies page tables. No signal is handled in the child.
bool spawn_watchdog(Segment const& segment) {
    if (program[0] == 0) return false;
    copy_environment();
    int pipe_ends[2];
    if (pipe2(pipe_ends, O_CLOEXEC) != 0) return false;
    // Above the numbers that the child gives to its descriptors.
    int const ready_fd = fcntl(pipe_ends[1], F_DUPFD_CLOEXEC, launch::watchdog_ready_fd + 1);
    close(pipe_ends[1]);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t const child = vfork();
    if (child == 0) exec_watchdog(segment.descriptor(), ready_fd);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    close(ready_fd);
    char byte = 0;
    ssize_t bytes = 0;
    while ((bytes = read(pipe_ends[0], &byte, 1)) < 0 && errno == EINTR) {}
    close(pipe_ends[0]);
    if (child > 0)
        while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {}
    return bytes == 1;
}

/// Starts the watchdog unless there is one. Returns true if there is one now, or another rank is about to start it.
bool ensure_watchdog(Segment const& segment) {
    std::atomic<std::uint64_t>& watchdog = segment.header().watchdog;
    std::uint64_t before = watchdog.load(std::memory_order_relaxed);
    std::uint64_t const self = ProcessIdentity::of(getpid()).word();
    bool const is_watched = before != 0 && before != self && ProcessWatch(ProcessIdentity(before)).is_alive();
    // Until the watchdog runs, this rank is entered in its place.
    if (is_watched || !watchdog.compare_exchange_strong(before, self)) return true;
    if (spawn_watchdog(segment)) return true;
    watchdog.store(0, std::memory_order_relaxed);
    return false;
}

}   // namespace

Watchdog::Watchdog(Segment const& segment, Waiter& waiter, EndJob end_job) : segment_(segment), end_job_(end_job) {
    find_program();
    waiter.observers().add(*this);
    waiter.repeated_tests().observer = this;
}

void Watchdog::on_long_wait(std::int64_t waited_ns) {
    end_job_if_requested();
    if (!has_tried_start_ && waited_ns > start_after_ns) start();
}

void Watchdog::end_job_if_requested() const {
    std::uint32_t const code = segment_.header().end_code.load(std::memory_order_acquire);
    if (code != 0) end_job_(static_cast<int>(code), "");
}

bool Watchdog::start() {
    has_tried_start_ = true;
    return start(segment_);
}

bool Watchdog::start(Segment const& segment) {
    if (program[0] == 0) find_program();
    return ensure_watchdog(segment);
}

bool Watchdog::start_in_handler(Segment const& segment) { return ensure_watchdog(segment); }

}   // namespace tutti
