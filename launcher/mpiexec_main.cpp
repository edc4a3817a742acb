// SPDX-License-Identifier: BSD-3-Clause
// mpiexec: parses the options and runs the job. The program is also tutti-daemon, under this name.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <string>
#include <string_view>
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
#include "launcher/tutti_daemon.hpp"
#include "runtime/base/error.hpp"
#include "topo/binding.hpp"

namespace {

using namespace tutti::launcher;

void print_message(std::string const& message) { apps::print_error("mpiexec", message, 0); }

/// Prints the nodes that the job may use.
void print_hosts(Job const& job) {
    if (job.hosts.empty()) print_message(tutti::join("node ", tutti::host_name(), " (this node) only"));
    for (Host const& host : job.hosts)
        print_message(tutti::join("node ", host.name, " has ", std::max(1, host.slots),
                                  host.slots > 1 ? " slots" : " slot",
                                  host.max_ranks > 0 ? tutti::join(" and at most ", host.max_ranks, " ranks") : ""));
}

/// Prints the ranks of each node.
void print_map(Allocation const& allocation) {
    for (std::size_t node = 0; node < allocation.nodes.size(); ++node) {
        std::vector<int> const ranks = allocation.ranks_on(static_cast<int>(node));
        print_message(tutti::join("node ", allocation.nodes[node], " gets ", ranks.size() == 1 ? "rank " : "ranks ",
                                  tutti::topo::ranges(ranks)));
    }
}

/// Writes mpiexec's process id to the place that --report-pid names. Throws LaunchError.
void report_process(std::string const& where) {
    std::string const line = tutti::join(getpid(), "\n");
    if (where == "-" || where == "+") {
        std::fputs(line.c_str(), where == "-" ? stdout : stderr);
        std::fflush(stdout);
        return;
    }
    check_output_file("--report-pid", where, [](std::string_view begin) {
        return !begin.empty() && begin.find_first_not_of("0123456789\n") == begin.npos;
    });
    std::ofstream file(where);
    if (!(file << line).flush()) throw LaunchError(tutti::join("--report-pid: ", where, " cannot be written"), 1);
}

/// Prints the notes about options, each one once.
void print_notes(Job const& job) {
    std::vector<std::string> all = job.notes;
    if (job.verbose) all.insert(all.end(), job.verbose_notes.begin(), job.verbose_notes.end());
    for (auto note = all.begin(); note != all.end(); ++note)
        if (std::find(all.begin(), note, *note) == note) print_message(*note);
}

int run(Job const& job) {
    if (job.show_help) return print("mpiexec", job.short_help ? apps::short_help(manual()) : help_text(job.help_topic));
    if (job.explain) return print("mpiexec", explain(*job.explain));
    if (job.show_version) return print("mpiexec", apps::version_text("mpiexec"));
    Allocation const allocation = allocate(job, tutti::host_name());
    std::vector<std::string> const errors = setting_errors(job);
    for (std::string const& error : errors) print_message(error);
    if (!errors.empty() && requires_valid_settings(job))
        throw LaunchError("job not started because TUTTI_STRICT is set");
    check_reports(job);
    if (!job.quiet) print_notes(job);
    if (!job.report_pid.empty()) report_process(job.report_pid);
    if (job.show_allocation) print_hosts(job);
    if (job.show_map) print_map(allocation);
    if (allocation.is_single_node()) return launch(job, allocation);
    RootDaemon others(job, allocation);
    return launch(job, allocation, &others);
}

}   // namespace

int main(int argc, char** argv) {
    std::string_view const name = argc > 0 ? argv[0] : "";
    if (name.substr(name.rfind('/') + 1) == daemon_name) return run_daemon(argc, argv);
    if (argc > 1 && std::string_view(argv[1]) == daemon_option) return run_daemon(argc - 1, argv + 1);
    Job job;
    try {
        std::vector<std::string> arguments(argv + 1, argv + argc);
        job = parse_arguments(arguments);
        return run(job);
    } catch (LaunchError const& error) {
        return apps::print_error("mpiexec", with_given_name(job, error.what()), error.exit_code);
    } catch (std::exception const& error) { return apps::print_error("mpiexec", error.what(), 1); }
}
