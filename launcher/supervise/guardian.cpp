// SPDX-License-Identifier: BSD-3-Clause
// The guardian's process waits for mpiexec to end or to vanish, and then kills what is left of the job.
#include "launcher/supervise/guardian.hpp"

#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "launcher/base/proc.hpp"
#include "launcher/serve/rank_server.hpp"
#include "launcher/start/spawn.hpp"
#include "runtime/base/error.hpp"
#include "runtime/job/lost_job.hpp"
#include "runtime/settings/launch.hpp"
#include "topo/text.hpp"

namespace tutti::launcher {
namespace {

bool is_zombie(std::filesystem::path const& process) {
    std::ifstream in(process / "stat");
    std::string all{std::istreambuf_iterator<char>(in), {}};
    std::size_t name_end = all.rfind(") ");
    return name_end == std::string::npos || all[name_end + 2] == 'Z';
}

/// Reads process groups until mpiexec reports that the job has ended normally (returns true), or has vanished (returns
/// false).
bool read_groups(std::set<pid_t>& groups) {
    pid_t group = 0;
    for (ssize_t n; (n = read(0, &group, sizeof group)) != 0;) {
        if (n < 0 && errno == EINTR) continue;
        if (n != sizeof group || group == 0) return group == 0;
        if (group > 0) groups.insert(group);
        else groups.erase(-group);
    }
    return false;
}

void remove_server_folders(pid_t launcher) {
    namespace fs = std::filesystem;
    fs::path const prefix = server_folder_prefix(launcher);
    std::error_code error;
    for (auto it = fs::directory_iterator(prefix.parent_path(), error); it != fs::directory_iterator();
         it.increment(error))
        if (it->path().filename().string().starts_with(prefix.filename().string())) fs::remove_all(it->path(), error);
}

[[noreturn]] void watch_launcher(int pipe, pid_t launcher) {
    setsid();   // a signal to the whole group of mpiexec must not kill this process
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, nullptr);
    dup2(pipe, 0);
    close_range(1, ~0U, 0);   // readers of mpiexec's pipes must not have to wait for this process to end
    std::set<pid_t> groups;
    bool ended_normally = read_groups(groups);
    std::string entry = join(launch::launcher_variable, "=", launcher_name(launcher));
    // A process may be starting another one at this moment: three consecutive passes must find none.
    for (int pass = 0, without = 0; !ended_normally && without < 3 && pass < 300; ++pass, usleep(10'000))
        without = kill_processes(groups, entry) > 0 ? 0 : without + 1;
    if (!ended_normally) remove_server_folders(launcher);
    _exit(0);
}

}   // namespace

int kill_processes(std::set<pid_t> const& groups, std::string const& entry) {
    namespace fs = std::filesystem;
    int found = 0;
    if (!proc_matches_pid_namespace()) {
        for (pid_t group : groups) found += kill(-group, SIGKILL) == 0;
        return found;
    }
    std::error_code error;
    for (auto it = fs::directory_iterator("/proc", error); it != fs::directory_iterator(); it.increment(error)) {
        std::string name = it->path().filename();
        pid_t const pid = topo::parse_number<pid_t>(name).value_or(0);   // 0: not a process
        if (pid == 0 || pid == getpid()) continue;
        if (!groups.contains(getpgid(pid)) && !has_environment_entry(pid, entry)) continue;
        if (!is_zombie(it->path()) && kill(pid, SIGKILL) == 0) ++found;
    }
    return found;
}

// The name is set before fork, because a rank may read it before the guardian runs.
Guardian::Guardian(bool has_one_rank) {
    Pipe pipe = Pipe::make();
    pid_t launcher = getpid();
    char own_name[16];
    prctl(PR_GET_NAME, own_name);
    prctl(PR_SET_NAME, has_one_rank ? launch::singleton_guardian_name : launch::guardian_name);
    pid_ = fork();
    if (pid_ == 0) {
        pipe.write.reset();
        watch_launcher(pipe.read.get(), launcher);
    }
    prctl(PR_SET_NAME, own_name);
    pipe_ = std::move(pipe.write);
}

// The guardian reads immediately, and its pipe has room for thousands of numbers.
void Guardian::send(pid_t group) { [[maybe_unused]] ssize_t n = write(pipe_.get(), &group, sizeof group); }

Guardian::~Guardian() {
    if (pid_ < 0) return;
    send(0);
    pipe_.reset();
    // If it has ended already, another process has killed it, and its number may have been reused.
    if (waitpid(pid_, nullptr, WNOHANG) != 0) return;
    kill(pid_, SIGKILL);   // it has nothing more to do, and may be stopped
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {}
}

// Diagnostic children and their properties.

void adopt_orphans() { prctl(PR_SET_CHILD_SUBREAPER, 1); }

std::vector<pid_t> children() { return children_of(getpid()); }

std::string running_process(pid_t pid) {
    std::string const folder = process_folder(pid);
    std::error_code ended;
    std::string name;
    std::ifstream comm(folder + "/comm");
    bool const runs = !std::filesystem::read_symlink(folder + "/exe", ended).empty();
    return runs && std::getline(comm, name) ? join("process ", pid, " (", name, ")") : "";
}

bool has_environment_entry(pid_t pid, std::string const& entry) {
    std::ifstream in(process_folder(pid) + "/environ", std::ios::binary);
    std::string const all{std::istreambuf_iterator<char>(in), {}};
    return ('\0' + all).find('\0' + entry + '\0') != std::string::npos;
}

bool has_pipe_open(pid_t pid, std::set<ino_t> const& pipes) {
    std::error_code ended;
    std::filesystem::directory_iterator entry(process_folder(pid) + "/fd", ended);
    for (; !ended && entry != std::filesystem::directory_iterator(); entry.increment(ended)) {
        struct stat info {};
        if (stat(entry->path().c_str(), &info) == 0 && S_ISFIFO(info.st_mode) && pipes.contains(info.st_ino))
            return true;
    }
    return false;
}

}   // namespace tutti::launcher
