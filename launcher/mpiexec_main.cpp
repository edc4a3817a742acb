// SPDX-License-Identifier: BSD-3-Clause
// mpiexec for one node: makes the segment, forks the ranks, waits for them.
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/error.hpp"
#include "runtime/launch.hpp"
#include "runtime/segment.hpp"

namespace {

using namespace tutti;

int usable_cores() {
    cpu_set_t mask;
    return sched_getaffinity(0, sizeof mask, &mask) == 0 ? CPU_COUNT(&mask) : 1;
}

[[noreturn]] void become_rank(unsigned rank, int descriptor, pid_t launcher, char** command) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setenv(launch::segment_variable, std::to_string(descriptor).c_str(), 1);
    setenv(launch::rank_variable, std::to_string(rank).c_str(), 1);
    setenv(launch::launcher_variable, std::to_string(launcher).c_str(), 1);
    execvp(command[0], command);
    std::fprintf(stderr, "mpiexec: %s cannot be started: %s.\n", command[0], std::strerror(errno));
    _exit(errno == ENOENT ? 127 : 126);
}

int run(unsigned ranks, char** command) {
    Segment segment = Segment::create(ranks);
    segment.header().usable_cores = static_cast<std::uint32_t>(usable_cores());
    std::vector<pid_t> pids;
    pid_t launcher = getpid();
    for (unsigned r = 0; r < ranks; ++r) {
        pid_t pid = fork();
        if (pid == 0) become_rank(r, segment.descriptor(), launcher, command);
        pids.push_back(pid);
    }
    int first_failure = 0, status = 0;
    while (wait(&status) > 0) {
        int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
        if (code == 0 || first_failure != 0) continue;
        first_failure = code;
        for (pid_t pid : pids) kill(pid, SIGKILL);
    }
    return first_failure;
}

}  // namespace

int main(int argc, char** argv) try {
    bool counted = argc > 2 && (std::strcmp(argv[1], "-n") == 0 || std::strcmp(argv[1], "-np") == 0);
    int first = counted ? 3 : 1;
    if (argc <= first) return std::fprintf(stderr, "usage: mpiexec -n N program [arguments]\n"), 2;
    return run(counted ? static_cast<unsigned>(std::max(1, std::atoi(argv[2]))) : 1, argv + first);
} catch (tutti::Error const& error) {
    std::fprintf(stderr, "mpiexec: %s.\n", error.what());
    return 1;
}
