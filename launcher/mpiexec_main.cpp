// SPDX-License-Identifier: BSD-3-Clause
// mpiexec: what was asked for, and then it happens.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "launcher/allocation.hpp"
#include "launcher/hosts.hpp"
#include "launcher/launch.hpp"
#include "launcher/nodes/head.hpp"
#include "launcher/options.hpp"
#include "launcher/placement.hpp"
#include "launcher/print.hpp"
#include "runtime/error.hpp"

namespace {

using namespace tutti::launcher;

int carry_out(Job const& job) {
    if (job.show_help) return print("mpiexec", help_text());
    if (job.show_version) return print("mpiexec", "mpiexec of Tutti " TUTTI_VERSION "\n");
    Allocation const allocation = allocate(job, host_name());
    for (std::string const& wrong : wrong_settings(job))
        std::fprintf(stderr, "mpiexec: %s%s\n", wrong.c_str(), wrong.ends_with('?') ? "" : ".");
    bool has_program = !job.programs.empty() && !job.programs.front().command.empty();
    if (job.show_hierarchy) {
        int ranks = std::max<int>(1, static_cast<int>(allocation.ranks_on(std::max(0, allocation.here)).size()));
        int failed = print("mpiexec", hierarchy_drawing(job, place(job, ranks), ranks));
        if (failed || !has_program) return failed;
    }
    if (allocation.alone()) return launch(job, allocation);
    Head others(job, allocation);
    return launch(job, allocation, &others);
}

int complain(char const* what, int code) {
    std::fprintf(stderr, "mpiexec: %s.\n", what);
    return code;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        std::vector<std::string> arguments(argv + 1, argv + argc);
        return carry_out(parse_arguments(arguments));
    } catch (Complaint const& complaint) {
        return complain(complaint.what(), complaint.exit_code);
    } catch (tutti::Error const& error) {
        return complain(error.what(), 1);
    }
}
