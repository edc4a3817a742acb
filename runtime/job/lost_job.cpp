// SPDX-License-Identifier: BSD-3-Clause
// Searches /proc for a launcher among the ancestors of this process, and marks its output pipes.
#include "runtime/job/lost_job.hpp"

#include <cstdlib>
#include <vector>

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
    std::string const maps = topo::read_system_file(join("/proc/", process, "/maps"), 16 << 20);
    return maps.find("/libmpi.so") != std::string::npos || maps.find("/libmpich.so") != std::string::npos;
}

bool is_anonymous_pipe(int descriptor, struct stat& info) {
    struct statfs system {};
    return fstat(descriptor, &info) == 0 && S_ISFIFO(info.st_mode) && fstatfs(descriptor, &system) == 0 &&
           system.f_type == PIPEFS_MAGIC;
}

}   // namespace

std::optional<LostJob> find_lost_job() {
    constexpr int max_ancestors = 64;
    std::vector<pid_t> between;
    pid_t process = process_info("self").parent;
    for (int i = 0; process > 0 && i < max_ancestors; ++i) {
        ProcessInfo const info = process_info(std::to_string(process));
        bool const may_launch = info.name.starts_with("mpi") || info.name == "tutti-daemon";
        if (may_launch && launches_several_ranks(process)) {
            for (pid_t one : between)
                if (uses_mpi(one)) return {};
            return LostJob{process, info.name};
        }
        between.push_back(process);
        process = info.parent;
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
