// SPDX-License-Identifier: BSD-3-Clause
// Creates pipes; reads /proc/PID/status, children and ns/pid.
#include "launcher/base/proc.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fcntl.h>
#include <sys/stat.h>

#include "launcher/base/job.hpp"
#include "runtime/base/error.hpp"

namespace tutti::launcher {
namespace {

/// Returns the numbers of a process in the pid namespace of this /proc and in each namespace inside it, down to the
/// process's own.
std::vector<pid_t> namespace_pids(std::string const& process) {
    std::vector<pid_t> all;
    std::ifstream status(process + "/status");
    for (std::string line; std::getline(status, line);) {
        if (!line.starts_with("NSpid:")) continue;
        std::istringstream numbers(line.substr(line.find(':') + 1));
        for (pid_t one; numbers >> one;) all.push_back(one);
    }
    return all;
}

bool is_in(std::string const& process, std::uint64_t pid_namespace) {
    struct stat info {};
    return pid_namespace != 0 && stat((process + "/ns/pid").c_str(), &info) == 0 && info.st_ino == pid_namespace;
}

}   // namespace

Pipe Pipe::make() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        throw LaunchError(join("no pipe can be created for a rank's output: ", std::strerror(errno),
                               errno == EMFILE ? "; ulimit -n prints the limit, ulimit -n NUMBER raises it" : ""),
                          1);
    return {Descriptor(ends[0]), Descriptor(ends[1])};
}

std::vector<int> inheritable_descriptors() {
    std::vector<int> all;
    std::error_code error;
    for (std::filesystem::directory_iterator one("/proc/self/fd", error), end; !error && one != end;
         one.increment(error)) {
        int const descriptor = std::atoi(one->path().filename().c_str());
        if (descriptor > STDERR_FILENO && (fcntl(descriptor, F_GETFD) & FD_CLOEXEC) == 0) all.push_back(descriptor);
    }
    return all;
}

bool proc_matches_pid_namespace() {
    static bool const same = namespace_pids("/proc/self").size() == 1;
    return same;
}

std::string process_folder(pid_t process) { return join("/proc/", proc_matches_pid_namespace() ? process : 0); }

std::vector<pid_t> children_of(pid_t process) {
    std::vector<pid_t> all;
    std::ifstream list(join(process_folder(process), "/task/", process, "/children"));
    for (pid_t child; list >> child;) all.push_back(child);
    return all;
}

pid_t find_descendant(pid_t ancestor, pid_t pid, std::uint64_t pid_namespace) {
    std::vector<pid_t> queue{ancestor};
    for (std::size_t i = 0; i < queue.size(); ++i) {
        std::string const folder = process_folder(queue[i]);
        std::vector<pid_t> const pids = namespace_pids(folder);
        if (!pids.empty() && pids.back() == pid && is_in(folder, pid_namespace)) return queue[i];
        for (pid_t child : children_of(queue[i])) queue.push_back(child);
    }
    return 0;
}

}   // namespace tutti::launcher
