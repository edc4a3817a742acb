// SPDX-License-Identifier: BSD-3-Clause
// Searches /proc for a launcher among the ancestors of this process, and marks its output pipes.
#include "runtime/job/lost_job.hpp"

#include <algorithm>
#include <cstdlib>

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "runtime/base/error.hpp"
#include "topo/files.hpp"
#include "topo/text_streams.hpp"

namespace tutti {
namespace {

struct ProcessInfo {
    std::string name;
    pid_t parent = 0;
};

/// Parses "PID (NAME) STATE PARENT …"; the name may contain any characters.
ProcessInfo process_info(std::string const& process) {
    std::string const text = topo::read_system_file(join("/proc/", process, "/stat"), 1);
    std::size_t const first = text.find('('), last = text.rfind(')');
    if (first == std::string::npos || last == std::string::npos || last + 4 >= text.size()) return {};
    return {text.substr(first + 1, last - first - 1), std::atoi(text.c_str() + last + 4)};
}

/// Returns true for a launcher of several ranks; another MPI's mpiexec has no child with that name.
bool launches_several_ranks(pid_t process) {
    std::string const children = topo::read_system_file(join("/proc/", process, "/task/", process, "/children"), 1);
    TextReader list(children);   // the guardian is one of the first
    for (int child; list >> child;)
        if (process_info(std::to_string(child)).name == launch::guardian_name) return true;
    return false;
}

bool uses_mpi(pid_t process) {
    std::string const maps = memory_map_of(process);
    return maps.find("/libmpi.so") != std::string::npos || maps.find("/libmpich.so") != std::string::npos;
}

bool is_anonymous_pipe(int descriptor, struct stat& info) {
    struct statfs system {};
    return fstat(descriptor, &info) == 0 && S_ISFIFO(info.st_mode) && fstatfs(descriptor, &system) == 0 &&
           system.f_type == PIPEFS_MAGIC;
}

}   // namespace

std::vector<Ancestor> ancestors_of_this_process() {
    constexpr std::size_t max_ancestors = 64;
    std::vector<Ancestor> ancestors;
    for (pid_t process = process_info("self").parent; process > 0 && ancestors.size() < max_ancestors;) {
        ProcessInfo const info = process_info(std::to_string(process));
        ancestors.push_back({process, info.name});
        process = info.parent;
    }
    return ancestors;
}

std::string memory_map_of(pid_t process) { return topo::read_system_file(join("/proc/", process, "/maps"), 16 << 20); }

std::optional<LostJob> find_lost_job() {
    std::vector<pid_t> between;
    for (auto const& [process, name] : ancestors_of_this_process()) {
        bool const may_launch = name.starts_with("mpi") || name == "tutti-daemon";
        if (may_launch && launches_several_ranks(process)) {
            if (std::ranges::any_of(between, uses_mpi)) return {};
            return LostJob{process, name};
        }
        between.push_back(process);
    }
    return {};
}

void mark_singleton_output() {
    struct stat info {};
    for (int descriptor : {STDOUT_FILENO, STDERR_FILENO})
        if (is_anonymous_pipe(descriptor, info)) fchmod(descriptor, (info.st_mode & 07777) | S_ISVTX);
}

bool has_singleton_mark(int pipe) {
    struct stat info {};
    return is_anonymous_pipe(pipe, info) && (info.st_mode & S_ISVTX) != 0;
}

}   // namespace tutti
