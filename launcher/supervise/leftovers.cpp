// SPDX-License-Identifier: BSD-3-Clause
// Finding children.
#include "launcher/supervise/leftovers.hpp"

#include <filesystem>
#include <fstream>

#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/base/proc.hpp"
#include "runtime/base/error.hpp"

namespace tutti::launcher {

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

bool has_entry(pid_t pid, std::string const& entry) {
    std::ifstream in(process_folder(pid) + "/environ", std::ios::binary);
    std::string const all{std::istreambuf_iterator<char>(in), {}};
    return ('\0' + all).find('\0' + entry + '\0') != std::string::npos;
}

bool has_open(pid_t pid, std::set<ino_t> const& pipes) {
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
