// SPDX-License-Identifier: BSD-3-Clause
// Waiting for mpiexec to end or to vanish.
#include "launcher/supervise/guardian.hpp"

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

#include "launcher/base/proc.hpp"
#include "launcher/start/environment.hpp"
#include "launcher/supervise/leftovers.hpp"
#include "runtime/base/error.hpp"
#include "runtime/job/lost_job.hpp"
#include "runtime/settings/launch.hpp"

namespace tutti::launcher {
namespace {

bool is_zombie(std::filesystem::path const& process) {
    std::ifstream in(process / "stat");
    std::string all{std::istreambuf_iterator<char>(in), {}};
    std::size_t name_end = all.rfind(") ");
    return name_end == std::string::npos || all[name_end + 2] == 'Z';
}

// Until mpiexec says that the job has ended in order (true), or has gone.
bool listen(std::set<pid_t>& groups) {
    pid_t word = 0;
    for (ssize_t n; (n = read(0, &word, sizeof word)) != 0;) {
        if (n < 0 && errno == EINTR) continue;
        if (n != sizeof word || word == 0) return word == 0;
        if (word > 0) groups.insert(word);
        else groups.erase(-word);
    }
    return false;
}

[[noreturn]] void keep_watch(int line, pid_t launcher) {
    setsid();   // a kill of mpiexec's whole group must not include this process
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, nullptr);
    dup2(line, 0);
    close_range(1, ~0U, 0);   // no pipe may wait for us
    std::set<pid_t> groups;
    bool in_order = listen(groups);
    std::string entry = join(launch::launcher_variable, "=", launcher_name(launcher));
    // A process may be starting another one just now: three passes without any must follow each other.
    for (int pass = 0, without = 0; !in_order && without < 3 && pass < 300; ++pass, usleep(10'000))
        without = kill_all_of(groups, entry) > 0 ? 0 : without + 1;
    _exit(0);
}

}   // namespace

int kill_all_of(std::set<pid_t> const& groups, std::string const& entry) {
    namespace fs = std::filesystem;
    int found = 0;
    if (!proc_has_our_numbers()) {
        for (pid_t group : groups) found += kill(-group, SIGKILL) == 0;
        return found;
    }
    std::error_code error;
    for (auto it = fs::directory_iterator("/proc", error); it != fs::directory_iterator(); it.increment(error)) {
        std::string name = it->path().filename();
        pid_t pid = 0;
        auto [end, bad] = std::from_chars(name.data(), name.data() + name.size(), pid);
        if (bad != std::errc{} || end != name.data() + name.size() || pid == getpid()) continue;
        if (!groups.contains(getpgid(pid)) && !has_entry(pid, entry)) continue;
        if (!is_zombie(it->path()) && kill(pid, SIGKILL) == 0) ++found;
    }
    return found;
}

// It is forked with its name, which a rank may ask for before the guardian runs.
Guardian::Guardian(bool of_one_rank) {
    Pipe pipe = Pipe::make();
    pid_t launcher = getpid();
    char own_name[16];
    prctl(PR_GET_NAME, own_name);
    prctl(PR_SET_NAME, of_one_rank ? launch::guardian_of_one_name : launch::guardian_name);
    pid_ = fork();
    if (pid_ == 0) {
        pipe.write.reset();
        keep_watch(pipe.read.get(), launcher);
    }
    prctl(PR_SET_NAME, own_name);
    line_ = std::move(pipe.write);
}

// Its pipe takes thousands of words before it is full, and it reads at once.
void Guardian::tell(pid_t word) { [[maybe_unused]] ssize_t n = write(line_.get(), &word, sizeof word); }

Guardian::~Guardian() {
    if (pid_ < 0) return;
    tell(0);
    line_.reset();
    if (waitpid(pid_, nullptr, WNOHANG) != 0) return;   // somebody has killed it, and its number may be another's now
    kill(pid_, SIGKILL);                                // it has nothing more to do, and may be stopped
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {}
}

}   // namespace tutti::launcher
