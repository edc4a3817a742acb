// SPDX-License-Identifier: BSD-3-Clause
// Finding children.
#include "launcher/supervise/leftovers.hpp"

#include <fstream>

#include <sys/prctl.h>
#include <unistd.h>

#include "runtime/base/error.hpp"

namespace tutti::launcher {

void adopt_orphans() { prctl(PR_SET_CHILD_SUBREAPER, 1); }

std::vector<pid_t> children() {
    std::ifstream list(join("/proc/self/task/", gettid(), "/children"));
    std::vector<pid_t> all;
    for (pid_t pid; list >> pid;) all.push_back(pid);
    return all;
}

}   // namespace tutti::launcher
