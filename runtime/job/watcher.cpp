// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/job/watcher.hpp"

#include <cerrno>
#include <string>

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/process_identity.hpp"
#include "runtime/job/daemon_program.hpp"
#include "runtime/memory/segment.hpp"
#include "runtime/settings/launch.hpp"
#include "runtime/wait/wait.hpp"

namespace tutti {
namespace {

constexpr std::int64_t start_after_ns = 1'000'000'000;   // most long waits are shorter, and need no other process

/// The watching process leaves this process's children before it watches, because the program may wait for children of
/// its own. It confirms by a pipe that it watches: where the program ignores SIGCHLD, or waits for any child, waitpid()
/// does not return here how a child ended.
bool run_on(Segment const& segment) {
    std::string const path = daemon_program();
    if (path.empty() || access(path.c_str(), X_OK) != 0) return false;
    std::string name = "tutti-daemon", option = "--watch";
    char* const arguments[] = {name.data(), option.data(), nullptr};
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    // Out of the way of the numbers that the child gives to its descriptors.
    int const said = fcntl(ends[1], F_DUPFD_CLOEXEC, launch::watching_descriptor + 1);
    close(ends[1]);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);   // its reader awaits the end
    posix_spawn_file_actions_adddup2(&files, segment.descriptor(), launch::watchers_descriptor);
    posix_spawn_file_actions_adddup2(&files, said, launch::watching_descriptor);
    pid_t child = 0;
    bool const started =
        posix_spawn(&child, path.c_str(), &files, nullptr, arguments, daemon_environment().data()) == 0;
    posix_spawn_file_actions_destroy(&files);
    close(said);
    char byte = 0;
    ssize_t bytes = 0;
    while ((bytes = read(ends[0], &byte, 1)) < 0 && errno == EINTR) {}
    close(ends[0]);
    if (started)
        while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {}
    return bytes == 1;
}

}   // namespace

Watcher::Watcher(Segment const& segment, Waiter& waiter, EndJob end_job) : segment_(segment), end_job_(end_job) {
    waiter.observers().if_unsupervised(look, this);
}

void Watcher::look(void const* watcher, std::int64_t waited_ns) {
    Watcher& here = *static_cast<Watcher*>(const_cast<void*>(watcher));
    here.obey();
    bool const needed =
        waited_ns > start_after_ns || here.segment_.header().ends_noted.load(std::memory_order_relaxed) != 0;
    if (!here.tried_ && needed) here.start();
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
    std::atomic<std::uint64_t>& watching = segment.header().watcher;
    std::uint64_t before = watching.load(std::memory_order_relaxed);
    std::uint64_t const me = ProcessIdentity::of(getpid()).word();
    bool const watched = before != 0 && before != me && ProcessWatch(ProcessIdentity(before)).lives();
    // Until the watcher is there this rank stands for it.
    if (watched || !watching.compare_exchange_strong(before, me)) return true;
    if (run_on(segment)) return true;
    watching.store(0, std::memory_order_relaxed);
    return false;
}

}   // namespace tutti
