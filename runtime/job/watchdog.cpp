// SPDX-License-Identifier: BSD-3-Clause
// Starts the watchdog process, also from a signal handler, and obeys its verdict.
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
std::array<char const*, 4096> programs_environment{};

void find_program() {
    std::string const path = daemon_program();
    if (path.size() < program.size() && access(path.c_str(), X_OK) == 0) std::ranges::copy(path, program.begin());
}

/// Without LD_PRELOAD: preloaded libraries are for ranks alone.
void copy_environment() {
    constexpr char preload[] = "LD_PRELOAD=";
    std::size_t n = 0;
    for (char** variable = environ; *variable && n + 1 < programs_environment.size(); ++variable)
        if (std::strncmp(*variable, preload, sizeof preload - 1) != 0) programs_environment[n++] = *variable;
    programs_environment[n] = nullptr;
}

void pass_on(int descriptor, int as) {
    if (descriptor == as) fcntl(as, F_SETFD, 0);
    else dup2(descriptor, as);
}

/// Runs in the child, which shares this process's memory until it executes another program, and changes none of it.
[[noreturn]] void become_watcher(int segment, int said) {
    int const nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    pass_on(nothing, STDIN_FILENO);
    pass_on(nothing, STDOUT_FILENO);   // the reader of the program's output waits for its end
    pass_on(segment, launch::watchers_descriptor);
    pass_on(said, launch::watching_descriptor);
    char const* const arguments[] = {"tutti-daemon", "--watch", nullptr};
    execve(program.data(), const_cast<char* const*>(arguments), const_cast<char* const*>(programs_environment.data()));
    _exit(127);
}

/// Starts the watchdog process. It leaves this process's children before it watches, because the program may wait for
/// children of its own. It confirms by a pipe that it watches: if the program ignores SIGCHLD, or waits for any
/// child, waitpid() does not return here how a child ended. Also called by a signal handler; uses vfork(), because
/// posix_spawn() allocates memory and fork() copies page tables. No signal is handled in the child.
bool run_on(Segment const& segment) {
    if (program[0] == 0) return false;
    copy_environment();
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    // Above the numbers that the child gives to its descriptors.
    int const said = fcntl(ends[1], F_DUPFD_CLOEXEC, launch::watching_descriptor + 1);
    close(ends[1]);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t const child = vfork();
    if (child == 0) become_watcher(segment.descriptor(), said);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    close(said);
    char byte = 0;
    ssize_t bytes = 0;
    while ((bytes = read(ends[0], &byte, 1)) < 0 && errno == EINTR) {}
    close(ends[0]);
    if (child > 0)
        while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {}
    return bytes == 1;
}

/// Starts the watchdog unless there is one. Returns true if there is one now, or another rank is about to start it.
bool start_on(Segment const& segment) {
    std::atomic<std::uint64_t>& watching = segment.header().watcher;
    std::uint64_t before = watching.load(std::memory_order_relaxed);
    std::uint64_t const me = ProcessIdentity::of(getpid()).word();
    bool const watched = before != 0 && before != me && ProcessWatch(ProcessIdentity(before)).lives();
    // Until the watchdog runs, this rank is entered in its place.
    if (watched || !watching.compare_exchange_strong(before, me)) return true;
    if (run_on(segment)) return true;
    watching.store(0, std::memory_order_relaxed);
    return false;
}

}   // namespace

Watcher::Watcher(Segment const& segment, Waiter& waiter, EndJob end_job) : segment_(segment), end_job_(end_job) {
    find_program();
    waiter.observers().if_unsupervised(look, this);
    waiter.tests().if_unsupervised(look, this);
}

void Watcher::look(void const* watcher, std::int64_t waited_ns) {
    Watcher& here = *static_cast<Watcher*>(const_cast<void*>(watcher));
    here.obey();
    if (!here.tried_ && waited_ns > start_after_ns) here.start();
}

void Watcher::obey() const {
    std::uint32_t const code = segment_.header().verdict.load(std::memory_order_acquire);
    if (code != 0) end_job_(static_cast<int>(code), "");
}

bool Watcher::start() {
    tried_ = true;
    return start(segment_);
}

bool Watcher::start(Segment const& segment) {
    if (program[0] == 0) find_program();
    return start_on(segment);
}

bool Watcher::start_in_handler(Segment const& segment) { return start_on(segment); }

}   // namespace tutti
