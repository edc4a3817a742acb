// SPDX-License-Identifier: BSD-3-Clause
// The measuring program: measures the chosen operations and reports the results.
#include "settings.hpp"

#include "measure.hpp"
#include "report.hpp"

#include <cstdio>
#include <sstream>

namespace bench {
namespace {

/// Returns the number of wrong results.
int run(Settings const& settings, MPI_Comm comm) {
    int rank, wrong = 0;
    MPI_Comm_rank(comm, &rank);
    SharedPage page(comm);
    const Variants variants(settings, comm);
    Report report(settings, variants, comm);
    for (Operation const* operation : chosen_operations(settings.operations, settings)) {
        if (!operation->has_call()) {
            if (rank == 0) report.add_unsupported(operation->name);
            continue;
        }
        bool const sized = operation->send != Blocks::none || operation->receive != Blocks::none;
        const std::size_t only = operation->only_size,
                          first = only    ? only
                                  : sized ? settings.smallest
                                          : 0,
                          last = only    ? only
                                 : sized ? settings.largest
                                         : 0;
        for (std::size_t bytes = first; bytes <= last; bytes = bytes ? bytes * 2 : last + 1) {
            auto const outcomes =
                (settings.overlap ? measure_overlap : measure)(*operation, bytes, settings, page, variants, comm);
            for (auto& outcome : outcomes) wrong += !outcome.wrong.empty();
            if (rank == 0) report.add(outcomes);
        }
    }
    return wrong;
}

void print_error(std::string const& error) { std::fprintf(stderr, "tutti-bench: %s.\n", error.c_str()); }

}   // namespace

std::string usage() { return "Usage: mpiexec -n N tutti-bench [options] [operation ...]\n\n"; }

std::string description() {
    std::ostringstream out;
    out << "Measures each operation separately: the buffers are rewritten, the ranks synchronize at a shared page\n"
           "(not with MPI's barrier), then one call is timed. The slowest rank's time counts, less the time to read\n"
           "the clock. Reports the median, the least and the greatest over the iterations. Results are checked. A\n"
           "size is the contribution of one rank (to each other rank, if that differs).\n\n";
    Settings settings;
    out << apps::help_text(options_of(settings));
    out << "\nOperations, in groups that may be named as well (default: the blocking ones, with --overlap the\n"
           "nonblocking ones):\n";
    for (Group const& group : groups()) {
        out << "\n  " << group.name << ": " << group.description << "\n";
        for (Operation const& operation : group.operations)
            out << "  " << operation.name << std::string(28 - operation.name.size(), ' ') << operation.description
                << (operation.has_call() ? "" : " (not in this MPI)") << "\n";
    }
    return out.str();
}

int program(int argc, char** argv, std::string const& help) {
    Settings settings;
    std::string error = parse(std::vector<std::string>(argv + 1, argv + argc), settings);
    if (!error.empty()) return reject_arguments(argc, argv, error);
    MPI_Init(&argc, &argv);
    int rank, ranks, result = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (settings.help) {
        if (rank == 0) std::fputs(help.c_str(), stdout);
    } else if (settings.root >= ranks) {
        result = 2;
        if (rank == 0) print_error("--root must be a rank below " + std::to_string(ranks) + ", 'every' or 'each'");
    } else if (settings.computes >= ranks) {
        result = 2;
        if (rank == 0) print_error("--computes must be a rank below " + std::to_string(ranks) + " or 'all'");
    } else {
        result = run(settings, MPI_COMM_WORLD) ? 1 : 0;
    }
    MPI_Finalize();
    return result;
}

int reject_arguments(int argc, char** argv, std::string const& error) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) print_error(error);
    MPI_Finalize();
    return 2;
}

}   // namespace bench
