// SPDX-License-Identifier: BSD-3-Clause
// The description of tutti-bench. Its options come from the lists of the driver and of the measuring program, its
// operations from the groups of operations.
#include "../../manual.hpp"
#include "../../terminal.hpp"
#include "../program/operation.hpp"
#include "rounds.hpp"

#include <sstream>

namespace bench {
namespace {

using apps::Section;

constexpr char description[] =
    R"(Each operation is measured separately: the buffers are rewritten, the ranks synchronize at a shared page (not
with MPI's barrier), then one call is timed. The slowest rank's time counts, less the time to read the clock.
The median, the least and the greatest over the iterations are reported. Results are checked. A size is the
contribution of one rank (to each other rank, if that differs).

Without an operation, the blocking ones are measured, with --overlap the nonblocking ones. A group of
operations may be named as well: blocking, nonblocking, …

Without mpiexec, tutti-bench starts the ranks itself, and can compare.)";

std::string about_comparisons() {
    std::ostringstream out;
    out << "Comparisons, and measurements at several numbers of ranks or with --plot, take " << seconds_in_rounds
        << " seconds per line and round, unless --seconds is given. --json and --csv also apply to comparisons, whose "
           "introduction --csv moves to standard error. Progress is shown there, too: a bar on a terminal; otherwise, "
           "if the work takes more than "
        << apps::Progress::short_seconds
        << " seconds, a line for each tenth. The programs built with other MPIs are kept in ~/.cache/tutti/bench "
           "($XDG_CACHE_HOME/tutti/bench) and used again until anything that they were built from changes; the folder "
           "may be removed at any time.";
    return out.str();
}

apps::Manual manual() {
    Plan plan;
    Settings settings;
    apps::Manual all;
    all.name = "tutti-bench";
    all.purpose = "measures MPI operations, and compares algorithms and MPI libraries";
    all.usage = {"tutti-bench [OPTION…] [OPERATION…]", "mpiexec -n N tutti-bench [OPTION…] [OPERATION…]"};
    all.description = description;
    all.examples = {
        {"tutti-bench -n 4 bcast allreduce", "two operations on four ranks"},
        {"tutti-bench -n 4 --algorithms allreduce", "all algorithms of one operation"},
        {"tutti-bench --against mpich bcast", "compared with MPICH"},
        {"mpiexec -n 4 tutti-bench bcast", "with options of mpiexec"},
        {"tutti-bench -n 2:256 --loop --plot growth.svg barrier comm_dup", "growth with the number of ranks"},
        {"tutti-bench -n 2 --against mpich,openmpi --overlap iallreduce", "overlap with a computation"}};
    all.sections = {{"comparing", "Starting ranks, and comparing", about_comparisons(),
                     apps::entries_of(driver_options(plan)), Section::Kind::options},
                    {"measuring", "Measuring", "", apps::entries_of(options_of(settings)), Section::Kind::options}};
    for (Group const& group : groups()) {
        Section section{group.name, "Operations, " + group.name, group.description, {}, Section::Kind::operands};
        for (Operation const& operation : group.operations)
            section.entries.push_back(
                {operation.name, "", operation.description + (operation.has_call() ? "" : " (not in this MPI)")});
        all.sections.push_back(section);
    }
    all.sections.push_back(
        {"exit-codes", "Exit status", "0; 1 if a result was wrong or a run failed; 2 for an invalid option."});
    all.see_also = "mpiexec(1), tutti-info(1), tutti-tune(1)";
    all.operands = apps::Operands::words;
    return all;
}

}   // namespace

std::string information_text(apps::Information const& requested) { return apps::information_text(manual(), requested); }

}   // namespace bench
