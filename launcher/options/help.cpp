// SPDX-License-Identifier: BSD-3-Clause
// `mpiexec --help` and its topics, generated from the table of options.
#include <algorithm>
#include <sstream>

#include "launcher/base/text.hpp"
#include "launcher/options/options.hpp"
#include "launcher/placement/allocation.hpp"
#include "runtime/base/error.hpp"

namespace tutti::launcher {
namespace {

constexpr std::size_t column = 30;

constexpr char help_introduction[] =
    R"(mpiexec starts the ranks of an MPI program, on one machine or several. So does mpirun.

    mpiexec -n 4 ./a.out                        four ranks
    mpiexec -n 8 -l ./a.out                     eight, each line with its rank in front
    mpiexec -n 1 ./boss : -n 3 ./worker         two programs in one world
    mpiexec -n 4 --drop-in ./built-with-mpich   a program that was built against MPICH
    mpiexec -n 4 -timeout 60 ./a.out            ended after a minute, with a report of who waited for whom
    mpiexec -n 8 --show-hierarchy               where eight ranks would go
    mpiexec -hosts one:4,two:4 ./a.out          eight ranks on two machines that ssh reaches

Containers, root, more ranks than cores, and systems without a network or /dev/shm need no option.
Options of MPICH and Open MPI are accepted, with one dash or two, as --name=value or --name value;
mpiexec --help compatibility lists them all, including those without effect and those that are refused.
A program whose name has no slash is searched in PATH, then, with a warning, in the current folder.
)";

constexpr char help_epilogue[] = R"(
Exit code: that of the first rank that fails; 128 plus the signal's number if a signal ended that rank; the last 8 bits
of the code given to MPI_Abort (so 0 and 256 are both 0); 1 if a rank exited with code 0 between MPI_Init and
MPI_Finalize, or if output was lost; 124 after -timeout; 126 if the program cannot be executed, or if the loader finds
another MPI library than Tutti's for it; 127 if it cannot be found; 2 for an invalid option.

On each other node, tutti-daemon acts for mpiexec; it must be installed there in the same folder. ssh must not ask for a
password. Inside a job of Slurm, PBS, LSF, Grid Engine, Cobalt or OAR, the default nodes are those of the job. Ranks
have the environment and the current folder of mpiexec on every node. If a node, its connection or mpiexec itself
fails, all ranks on all nodes end within two seconds.

If a rank fails, the others and their child processes receive SIGTERM and after 0.3 seconds SIGKILL. Processes that
still run after the last rank has ended are killed with a message; if one of them could still print, the exit code is
not 0. Programs that prompt for a password read it from standard input, because mpiexec owns the terminal.
SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGUSR2 are forwarded to the ranks; the second SIGINT, SIGTERM, SIGHUP or SIGQUIT
kills them. SIGUSR1 reports which ranks wait for which and where, and the job continues; it is forwarded only to ranks
that have a handler for it.
Output arrives in whole lines. The environment of a rank contains PMI_RANK, PMI_SIZE, MPI_LOCALRANKID,
MPI_LOCALNRANKS, OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE, OMPI_COMM_WORLD_LOCAL_RANK, … as with MPICH and Open MPI.

tutti-info lists the variables (TUTTI_…) and the algorithms. If several jobs or other programs share a machine, ranks
adapt how they wait; guides/several-jobs.md explains how to observe and control that (TUTTI_WAIT, the info key
tutti_wait).
)";

/// Returns an option's argument as help prints it after the names.
std::string argument_of(Option const& option) {
    if (option.argument.empty()) return {};
    bool const after_equals = option.argument.starts_with('[') && option.argument != "[TOPIC]";
    return after_equals ? join("[=", option.argument.substr(1)) : join(" ", option.argument);
}

/// Prints `names`, then `description` in its column.
void print_entry(std::ostream& out, std::string const& names, std::string_view description) {
    out << "  ";
    if (names.size() + 4 > column) out << wrapped(names, 2) << std::string(column, ' ');
    else out << names << std::string(column - 2 - names.size(), ' ');
    out << wrapped(description, column);
}

void print_option(std::ostream& out, Option const& option) {
    print_entry(out, join(option.names, argument_of(option)), option.description);
}

constexpr char compatibility[] = "compatibility";

constexpr char compatibility_introduction[] =
    R"(Options of other launchers and of the MPI standard, and their effect here. mpiexec --help lists Tutti's own
options. The launchers that support an option follow its name:
)";

std::string launcher_names(Option const& option) {
    std::string names;
    for (Launcher const& launcher : launchers)
        if (option.supported_by.find(launcher.letter) != std::string_view::npos)
            names += (names.empty() ? "" : ", ") + std::string(launcher.name);
    return names;
}

/// Prints the options or directives of other launchers that have this effect.
void print_with_effect(std::ostream& out, std::span<Option const> options, Effect effect, std::string_view front) {
    for (Option const& option : options) {
        if (option.effect != effect || option.supported_by.empty()) continue;
        print_entry(out, join(front, option.names, argument_of(option), " (", launcher_names(option), ")"),
                    option.description);
    }
}

std::string compatibility_text() {
    std::ostringstream out;
    out << compatibility_introduction;
    constexpr std::pair<Effect, std::string_view> sections[] = {
        {Effect::applied, "Done"},
        {Effect::ignored, "Accepted without effect; mpiexec -v reports them"},
        {Effect::refused, "Refused"}};
    for (auto const& [effect, title] : sections) {
        out << '\n' << title << ":\n";
        for (OptionGroup const& group : option_groups()) print_with_effect(out, group.options, effect, "");
        for (DirectiveList const& list : directive_lists())
            print_with_effect(out, list.directives, effect, join(list.option, list.separators.empty() ? " …:" : " "));
    }
    return out.str();
}

}   // namespace

bool is_help_topic(std::string_view word) {
    return word == compatibility || (word.starts_with('-') && find_option(word) != nullptr);
}

std::string help_text(std::string_view topic) {
    std::ostringstream out;
    if (topic == compatibility) return compatibility_text();
    if (!topic.empty() && topic != "all" && topic != "full") {
        Option const* const option = find_option(topic);
        if (!option)
            throw LaunchError(join("--help ", printable(topic), ": the topics are compatibility and the options"));
        print_option(out, *option);
        for (DirectiveList const& list : directive_lists())
            if (find_option(list.option) == option)
                for (Option const& directive : list.directives) print_option(out, directive);
        return out.str();
    }
    out << help_introduction;
    for (OptionGroup const& group : option_groups()) {
        if (group.options.front().effect != Effect::applied) continue;
        out << '\n' << group.title << ":\n";
        for (Option const& option : group.options) print_option(out, option);
    }
    out << help_epilogue;
    return out.str();
}

}   // namespace tutti::launcher
