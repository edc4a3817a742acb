// SPDX-License-Identifier: BSD-3-Clause
// Runs the helper and reads its answer from a pipe.
#include "runtime/job/node_machine.hpp"

#include <algorithm>
#include <cerrno>
#include <optional>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/clock.hpp"
#include "topo/this_machine.hpp"

namespace tutti {
namespace {

constexpr std::size_t max_machine_bytes = 16 << 20;

/// Returns what arrives until the last writer has closed the pipe; none if that has not happened by `deadline_ns`.
std::optional<std::string> read_to_end(int descriptor, std::int64_t deadline_ns) {
    std::string text;
    while (text.size() <= max_machine_bytes) {
        std::int64_t const left_ms = (deadline_ns - now_ns()) / 1'000'000;
        pollfd readable{descriptor, POLLIN, 0};
        int const ready = left_ms > 0 ? poll(&readable, 1, static_cast<int>(left_ms)) : 0;
        char part[4096];
        ssize_t const bytes = ready > 0 ? read(descriptor, part, sizeof part) : ready - 1;
        if (bytes == 0) return text;
        if (bytes > 0) text.append(part, static_cast<std::size_t>(bytes));
        else if (ready == 0 || errno != EINTR) break;
    }
    return std::nullopt;
}

/// Starts the helper with its standard output in a pipe. Returns the child's process id, or 0.
pid_t spawn(std::string const& program, int output) {
    std::string name = "tutti-daemon", option = "--machine";
    char* const arguments[] = {name.data(), option.data(), nullptr};
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t child = 0;
    int const error = posix_spawn(&child, program.c_str(), &files, nullptr, arguments, daemon_environment().data());
    posix_spawn_file_actions_destroy(&files);
    return error == 0 ? child : 0;
}

}   // namespace

NodeMachine::NodeMachine(std::string root, MachineHelper helper) : root_(std::move(root)), helper_(std::move(helper)) {}

NodeMachine::~NodeMachine() {
    if (output_fd_ < 0) return;
    // If the program has reaped the child already, for example by ignoring SIGCHLD, that is detected before the kill.
    if (waitpid(child_, nullptr, WNOHANG) == 0) kill(child_, SIGKILL);
    close(output_fd_);
    while (waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {}
}

void NodeMachine::start(std::vector<int> const& units) {
    if (output_fd_ < 0 && !topo::machine_in_sysfs(units, root_).complete) start_helper();
}

void NodeMachine::start_helper() {
    int pipe_ends[2];
    if (helper_.program.empty() || access(helper_.program.c_str(), X_OK) != 0 || pipe2(pipe_ends, O_CLOEXEC) != 0)
        return;
    // Above the standard descriptors, any of which may be closed here and is another file in the child.
    int const output = fcntl(pipe_ends[1], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(pipe_ends[1]);
    child_ = output < 0 ? 0 : spawn(helper_.program, output);
    if (output >= 0) close(output);
    if (child_ != 0) output_fd_ = pipe_ends[0];
    else close(pipe_ends[0]);
}

/// Returns an empty string if there is no answer.
std::string NodeMachine::read_helper_output() {
    if (output_fd_ < 0) return {};
    auto const answer = read_to_end(output_fd_, now_ns() + std::int64_t{helper_.limit_ms} * 1'000'000);
    // The child's end of the pipe is open, so it is alive, and the process id is still its own.
    if (!answer) kill(child_, SIGKILL);
    // Fails if the program ignores SIGCHLD or has reaped this child; the answer is complete in these cases as well.
    while (waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {}
    close(output_fd_);
    output_fd_ = -1;
    return answer.value_or("");
}

topo::Machine NodeMachine::reduced_to(std::vector<int> const& units) {
    topo::SysfsMachine seen = topo::machine_in_sysfs(units, root_);
    if (seen.complete) return std::move(seen.machine);
    if (output_fd_ < 0) start_helper();
    auto detected = topo::Machine::from_text(read_helper_output());
    if (!detected) return std::move(seen.machine);
    std::erase_if(detected->pus, [&](topo::Pu const& pu) { return std::ranges::find(units, pu.os) == units.end(); });
    if (detected->pus.size() == units.size()) return std::move(*detected);
    seen.machine.caches = detected->caches;   // hwloc does not see all units, but those that it sees have these caches
    return std::move(seen.machine);
}

}   // namespace tutti
