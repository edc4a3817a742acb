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
            if (rank == 0) report.lacks(operation->name);
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

void complain(std::string const& complaint) { std::fprintf(stderr, "tutti-bench: %s.\n", complaint.c_str()); }

}   // namespace

std::string usage() { return "Usage: mpiexec -n N tutti-bench [options] [operation ...]\n\n"; }

std::string description() {
    std::ostringstream out;
    out << "Measures each operation by itself: buffers are written anew, the ranks meet at a page of their own (not\n"
           "at MPI's barrier), then one call is timed, of which the slowest rank's time counts, less what reading the\n"
           "clock takes. Reports the median, the least and the greatest over the iterations. Results are checked. A\n"
           "size is what one rank contributes (to each other rank, where that differs).\n\n";
    Settings settings;
    print_options(out, options_of(settings));
    out << "\nOperations, in groups that may be named as well (the blocking ones when nothing is named, with\n"
           "--overlap the nonblocking ones):\n";
    for (Group const& group : groups()) {
        out << "\n  " << group.name << ": " << group.sentence << "\n";
        for (Operation const& operation : group.operations)
            out << "  " << operation.name << std::string(28 - operation.name.size(), ' ') << operation.sentence
                << (operation.has_call() ? "" : " (not in this MPI)") << "\n";
    }
    return out.str();
}

int program(int argc, char** argv, std::string const& help) {
    Settings settings;
    std::string complaint = parse(std::vector<std::string>(argv + 1, argv + argc), settings);
    if (!complaint.empty()) return refuse(argc, argv, complaint);
    MPI_Init(&argc, &argv);
    int rank, ranks, result = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (settings.help) {
        if (rank == 0) std::fputs(help.c_str(), stdout);
    } else if (settings.root >= ranks) {
        result = 2;
        if (rank == 0) complain("--root must be a rank below " + std::to_string(ranks) + ", 'every' or 'each'");
    } else if (settings.computes >= ranks) {
        result = 2;
        if (rank == 0) complain("--computes must be a rank below " + std::to_string(ranks) + " or 'all'");
    } else {
        result = run(settings, MPI_COMM_WORLD) ? 1 : 0;
    }
    MPI_Finalize();
    return result;
}

int refuse(int argc, char** argv, std::string const& complaint) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) complain(complaint);
    MPI_Finalize();
    return 2;
}

}   // namespace bench
