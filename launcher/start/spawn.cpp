// SPDX-License-Identifier: BSD-3-Clause
// Starts the process of one rank by vfork. Nothing is copied, and because parent and child share memory until the
// exec, the child reports errors by writing to that memory. Between vfork and exec only system calls are allowed, so
// everything is prepared beforehand.
#include "launcher/start/spawn.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "launcher/base/job.hpp"
#include "runtime/base/error.hpp"

namespace tutti::launcher {
namespace {

struct Failure {
    char const* step = nullptr;
    int error = 0;
};

std::vector<char*> pointers(std::vector<std::string> const& words) {
    std::vector<char*> all;
    for (std::string const& word : words) all.push_back(const_cast<char*>(word.c_str()));
    all.push_back(nullptr);
    return all;
}

/// Builds a kernel mask of any size, so that machines with more than CPU_SETSIZE processing units work.
std::vector<unsigned long> cpu_mask(std::vector<int> const& cpus) {
    constexpr std::size_t bits = 8 * sizeof(unsigned long);
    std::vector<unsigned long> mask;
    for (int cpu : cpus) {
        std::size_t word = static_cast<std::size_t>(cpu) / bits;
        if (mask.size() <= word) mask.resize(word + 1);
        mask[word] |= 1UL << (static_cast<std::size_t>(cpu) % bits);
    }
    return mask;
}

struct ExecArguments {
    SpawnOptions const& start;
    std::vector<char*> argv, environment, shell_argv;
    std::vector<unsigned long> mask;
    pid_t launcher;
    Failure failure;
};

void move_descriptor(int from, int to) {
    if (from == to) fcntl(to, F_SETFD, 0);
    else dup2(from, to);
}

/// A rank is in the background of the terminal. It would be stopped when it changes the terminal's settings or reads
/// from it, which programs do that prompt for a password. Without a terminal they prompt on standard input. A session
/// per rank would have the same effect, but ranks of different sessions do not yield cores to each other.
void detach_from_terminal() {
    int const terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (terminal < 0) return;
    ioctl(terminal, TIOCNOTTY);
    close(terminal);
}

/// Runs in the child. Returns only if something failed.
void become_rank(ExecArguments& p) {
    SpawnOptions const& start = p.start;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != p.launcher) _exit(1);   // the launcher died before the line above
    if (start.detach_terminal) detach_from_terminal();
    move_descriptor(start.input, STDIN_FILENO);
    move_descriptor(start.output, STDOUT_FILENO);
    move_descriptor(start.error, STDERR_FILENO);
    for (int descriptor : start.inherited_descriptors) fcntl(descriptor, F_SETFD, 0);
    if (start.descriptor_limit) setrlimit(RLIMIT_NOFILE, start.descriptor_limit);
    if (!p.mask.empty())
        sched_setaffinity(0, p.mask.size() * sizeof(unsigned long), reinterpret_cast<cpu_set_t*>(p.mask.data()));
    if (!start.directory.empty() && chdir(start.directory.c_str()) != 0) {
        p.failure = {"the folder", errno};
        return;
    }
    if (start.signal_mask) sigprocmask(SIG_SETMASK, start.signal_mask, nullptr);
    execve(start.path.c_str(), p.argv.data(), p.environment.data());
    if (errno == ENOEXEC) execve("/bin/sh", p.shell_argv.data(), p.environment.data());   // a script without #!
    p.failure = {"the program", errno};
}

/// Must not be inlined: what the child does to the stack must not affect the caller's variables.
__attribute__((noinline)) pid_t start_child(ExecArguments& p) {
    pid_t pid = vfork();
    if (pid == 0) {
        become_rank(p);
        _exit(127);
    }
    return pid;
}

[[noreturn]] void throw_spawn_error(SpawnOptions const& start, Failure const& failure) {
    bool folder = std::strcmp(failure.step, "the folder") == 0;
    bool interpreter = !folder && failure.error == ENOENT && access(start.path.c_str(), F_OK) == 0;
    throw LaunchError(
        join(failure.step, " ", folder ? start.directory : start.path,
             folder ? " cannot be entered: " : " cannot be started: ",
             interpreter ? "the interpreter or loader that it names does not exist" : std::strerror(failure.error)),
        failure.error == ENOENT ? 127 : 126);
}

}   // namespace

pid_t spawn(SpawnOptions const& start) {
    ExecArguments p{start, pointers(start.command), pointers(start.environment), {}, cpu_mask(start.cpus), getpid(),
                    {}};
    p.shell_argv = p.argv;
    p.shell_argv.insert(p.shell_argv.begin(), const_cast<char*>("sh"));
    p.shell_argv[1] = const_cast<char*>(start.path.c_str());
    pid_t pid = start_child(p);
    if (pid < 0) throw LaunchError(join("another process cannot be started: ", std::strerror(errno)), 1);
    if (p.failure.step) throw_spawn_error(start, p.failure);
    setpgid(pid, pid);   // as in the child, in case this process runs first
    return pid;
}

}   // namespace tutti::launcher
