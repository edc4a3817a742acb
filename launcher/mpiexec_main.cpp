// SPDX-License-Identifier: BSD-3-Clause
// mpiexec: parses the options and runs the job.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <string>
#include <vector>

#include <unistd.h>

#include "launcher/base/text.hpp"
#include "launcher/diagnosis/explanations/explanations.hpp"
#include "launcher/launch.hpp"
#include "launcher/nodes/root_daemon.hpp"
#include "launcher/options/options.hpp"
#include "launcher/placement/allocation.hpp"
#include "launcher/placement/placement.hpp"
#include "launcher/report/write_report.hpp"
#include "runtime/base/error.hpp"
#include "topo/binding.hpp"

namespace {

using namespace tutti::launcher;

void tell(std::string const& sentence) { std::fprintf(stderr, "mpiexec: %s.\n", sentence.c_str()); }

/// Prints the nodes that the job may use.
void tell_hosts(Job const& job) {
    if (job.hosts.empty()) tell(tutti::join("node ", host_name(), ", this one, and no other"));
    for (Host const& host : job.hosts)
        tell(tutti::join("node ", host.name, " has ", std::max(1, host.slots), host.slots > 1 ? " slots" : " slot",
                         host.most > 0 ? tutti::join(" and takes ", host.most, " ranks at most") : ""));
}

/// Prints the ranks of each node.
void tell_map(Allocation const& allocation) {
    for (std::size_t node = 0; node < allocation.nodes.size(); ++node) {
        std::vector<int> const ranks = allocation.ranks_on(static_cast<int>(node));
        tell(tutti::join("node ", allocation.nodes[node], " gets ", ranks.size() == 1 ? "rank " : "ranks ",
                         tutti::topo::ranges(ranks)));
    }
}

/// Writes mpiexec's process id to the place that --report-pid names. Throws Complaint.
void report_process(std::string const& where) {
    std::string const line = tutti::join(getpid(), "\n");
    if (where == "-" || where == "+") {
        std::fputs(line.c_str(), where == "-" ? stdout : stderr);
        std::fflush(stdout);
        return;
    }
    std::ofstream file(where);
    if (!(file << line).flush()) throw Complaint(tutti::join("--report-pid: ", where, " cannot be written"), 1);
}

/// Prints the notes about options, each one once.
void tell_notes(Job const& job) {
    std::vector<std::string> all = job.notes;
    if (job.verbose) all.insert(all.end(), job.remarks.begin(), job.remarks.end());
    for (auto note = all.begin(); note != all.end(); ++note)
        if (std::find(all.begin(), note, *note) == note) tell(*note);
}

int carry_out(Job const& job) {
    if (job.show_help) return print("mpiexec", help_text(job.help_topic));
    if (!job.explain.empty()) return print("mpiexec", explain(job.explain));
    if (job.show_version) return print("mpiexec", "mpiexec of Tutti " TUTTI_VERSION "\n");
    Allocation const allocation = allocate(job, host_name());
    std::vector<std::string> const all_wrong = wrong_settings(job);
    for (std::string const& wrong : all_wrong)
        std::fprintf(stderr, "mpiexec: %s%s\n", wrong.c_str(), wrong.ends_with('?') ? "" : ".");
    if (!all_wrong.empty() && strict_settings(job)) throw Complaint("not started, as TUTTI_STRICT asks for");
    check_reports(job);
    if (!job.quiet) tell_notes(job);
    if (!job.report_pid.empty()) report_process(job.report_pid);
    if (job.show_allocation) tell_hosts(job);
    if (job.show_map) tell_map(allocation);
    if (allocation.alone()) return launch(job, allocation);
    RootDaemon others(job, allocation);
    return launch(job, allocation, &others);
}

int complain(char const* what, int code) {
    tell(what);
    return code;
}

}   // namespace

int main(int argc, char** argv) {
    try {
        std::vector<std::string> arguments(argv + 1, argv + argc);
        return carry_out(parse_arguments(arguments));
    } catch (Complaint const& complaint) {
        return complain(complaint.what(), complaint.exit_code);
    } catch (std::exception const& error) { return complain(error.what(), 1); }
}
