// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/diagnosis/watcher.hpp"

#include <cerrno>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/process.hpp"
#include "runtime/settings/launch.hpp"

namespace tutti {
namespace {

constexpr std::int64_t patience_ns = 1'000'000'000;   // most long waits are shorter, and need no other process

bool lives(pid_t process) { return process > 0 && (kill(process, 0) == 0 || errno == EPERM); }

/// Beside the library that this code lies in.
std::string program() {
    Dl_info here{};
    if (dladdr(reinterpret_cast<void*>(&lives), &here) == 0 || !here.dli_fname) return {};
    std::error_code none;
    return (std::filesystem::absolute(here.dli_fname, none).parent_path() / TUTTI_PROGRAMS_FROM_LIBRARIES /
            "tutti-daemon")
        .lexically_normal();
}

/// Without what is for ranks alone.
std::vector<char*> environment() {
    std::vector<char*> kept;
    for (char** variable = environ; *variable; ++variable)
        if (!std::string_view(*variable).starts_with("LD_PRELOAD=")) kept.push_back(*variable);
    kept.push_back(nullptr);
    return kept;
}

}   // namespace

Watcher::Watcher(Process& process) : process_(process) { process.waiter.if_unsupervised(look, this); }

void Watcher::look(void const* watcher, std::int64_t waited_ns) {
    Watcher& here = *static_cast<Watcher*>(const_cast<void*>(watcher));
    SegmentHeader const& header = here.process_.segment.header();
    if (std::uint32_t const code = header.verdict.load(std::memory_order_acquire); code != 0 && here.process_.end_job)
        here.process_.end_job(static_cast<int>(code), "");
    if (!here.tried_ && waited_ns > patience_ns) here.start();
}

/// It makes itself a child of nobody before it watches: the program may wait for children of its own.
void Watcher::start() {
    tried_ = true;
    std::atomic<std::int32_t>& watching = process_.segment.header().watcher;
    std::int32_t before = watching.load(std::memory_order_relaxed);
    if (lives(before) || !watching.compare_exchange_strong(before, getpid())) return;   // until the other one is there
    std::string const path = program();
    if (path.empty() || access(path.c_str(), X_OK) != 0) return;
    std::string name = "tutti-daemon", option = "--watch";
    char* const arguments[] = {name.data(), option.data(), nullptr};
    posix_spawn_file_actions_t files;
    if (posix_spawn_file_actions_init(&files) != 0) return;
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, process_.segment.descriptor(), launch::watchers_descriptor);
    pid_t child = 0;
    if (posix_spawn(&child, path.c_str(), &files, nullptr, arguments, environment().data()) == 0)
        while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {}
    posix_spawn_file_actions_destroy(&files);
}

}   // namespace tutti
