// SPDX-License-Identifier: BSD-3-Clause
// Waiting for mpiexec to end or to vanish.
#include "launcher/guardian.hpp"

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/error.hpp"
#include "runtime/launch.hpp"

namespace tutti::launcher {
namespace {

bool has_entry(std::filesystem::path const& process, std::string const& entry) {
    std::ifstream in(process / "environ", std::ios::binary);
    std::string all{std::istreambuf_iterator<char>(in), {}};
    return ('\0' + all).find('\0' + entry + '\0') != std::string::npos;
}

[[noreturn]] void keep_watch(int line, pid_t launcher) {
    setsid();   // a kill of mpiexec's whole group must not include this process
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, nullptr);
    prctl(PR_SET_NAME, "mpiexec-guard");
    dup2(line, 0);
    close_range(1, ~0U, 0);   // no pipe may wait for us
    char word = 0;
    ssize_t n = 0;
    while ((n = read(0, &word, 1)) < 0 && errno == EINTR) {}
    std::string entry = join(launch::launcher_variable, "=", launcher);
    // A process may be starting another one just now: three passes without any must follow each other.
    for (int pass = 0, without = 0; n == 0 && without < 3 && pass < 300; ++pass, usleep(10'000))
        without = kill_by_environment(entry.c_str()) ? 0 : without + 1;
    _exit(0);
}

}  // namespace

int kill_by_environment(char const* entry) {
    int found = 0;
    std::error_code error;
    for (auto it = std::filesystem::directory_iterator("/proc", error); it != std::filesystem::directory_iterator(); it.increment(error)) {
        std::string name = it->path().filename();
        pid_t pid = 0;
        auto [end, bad] = std::from_chars(name.data(), name.data() + name.size(), pid);
        if (bad != std::errc{} || end != name.data() + name.size() || pid == getpid() || !has_entry(it->path(), entry)) continue;
        if (kill(pid, SIGKILL) == 0) ++found;
    }
    return found;
}

Guardian::Guardian() {
    Pipe pipe = Pipe::make();
    pid_t launcher = getpid();
    pid_ = fork();
    if (pid_ == 0) {
        pipe.write.reset();
        keep_watch(pipe.read.get(), launcher);
    }
    line_ = std::move(pipe.write);
}

Guardian::~Guardian() {
    if (pid_ < 0) return;
    [[maybe_unused]] ssize_t n = write(line_.get(), "e", 1);
    line_.reset();
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {}
}

}  // namespace tutti::launcher
