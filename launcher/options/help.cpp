// SPDX-License-Identifier: BSD-3-Clause
// `mpiexec --help` and its topics, generated from the table of options.
#include <algorithm>
#include <sstream>

#include "launcher/options/options.hpp"
#include "launcher/placement/allocation.hpp"
#include "runtime/base/error.hpp"

namespace tutti::launcher {
namespace {

constexpr std::size_t column = 30, width = 110;

constexpr char beginning[] = R"(mpiexec starts the ranks of an MPI program, on one machine or several. So does mpirun.

    mpiexec -n 4 ./a.out                        four ranks
    mpiexec -n 8 -l ./a.out                     eight, each line with its rank in front
    mpiexec -n 1 ./boss : -n 3 ./worker         two programs in one world
    mpiexec -n 4 --drop-in ./built-with-mpich   a program that was built against MPICH
    mpiexec -n 4 -timeout 60 ./a.out            ended after a minute, saying who waited for whom
    mpiexec -n 8 --show-hierarchy               where eight ranks would go
    mpiexec -hosts one:4,two:4 ./a.out          eight ranks on two machines that ssh reaches

No option is needed for containers, for root, for more ranks than cores, without a network or without /dev/shm.
Options of MPICH and of Open MPI are understood, with one dash or two, and --name=value as well as --name value;
mpiexec --help compatibility lists all of them, with those that change nothing here and those that are refused.
A program whose name has no slash is looked for in PATH, then, with a warning, in the current folder.
)";

constexpr char ending[] = R"(
Exit code: that of the first rank that fails; 128 and the signal's number for a rank that a signal ended; the last 8
bits of the code given to MPI_Abort (so 0 is 0, and 256, too); 1 for a rank that left between MPI_Init and MPI_Finalize
with code 0, and where output was lost; 124 after -timeout; 126 for a program that cannot be executed, or that the
loader gives another MPI library than Tutti's; 127 for one that cannot be found; 2 for a wrong option.

On several nodes tutti-daemon does on each what mpiexec does here; it must be installed there in the same folder. ssh
must not ask for a password. Inside a job of Slurm, PBS, LSF, Grid Engine, Cobalt or OAR the nodes are those of the job
when none are named. Ranks find the environment and the folder of mpiexec on every node. When a node, its connection
or mpiexec itself goes, all ranks on all nodes end within two seconds.

When a rank fails, the others get SIGTERM and after 0.3 seconds SIGKILL, with everything that they started. What ranks
have left behind when the last of them has ended is ended, too, with a sentence; if it could still print, the exit code
is not 0. A rank that asks for a password does so on standard input, as the terminal is mpiexec's.
SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGUSR2 are passed on to the ranks; the second SIGINT, SIGTERM, SIGHUP or SIGQUIT
kills them. SIGUSR1 shows who waits for whom and where, and the job goes on; ranks that have a handler for it get it,
as from other mpiexecs, and those that it would end do not.
Output arrives in whole lines. What a rank finds in its environment: PMI_RANK, PMI_SIZE, MPI_LOCALRANKID,
MPI_LOCALNRANKS, OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE, OMPI_COMM_WORLD_LOCAL_RANK, … as from either mpiexec.

tutti-info lists the variables (TUTTI_…) and the algorithms. On a machine that several jobs or other programs
use, ranks adapt how they wait; guides/several-jobs.md says how to see that and how to choose (TUTTI_WAIT, the
info key tutti_wait).
)";

/// Prints `text` from column `at` on, wrapped at `width`; further lines are indented to `column`.
void print_wrapped(std::ostream& out, std::string_view text, std::size_t at) {
    std::istringstream words{std::string(text)};
    for (std::string word; words >> word;) {
        if (at + 1 + word.size() > width) {
            out << '\n' << std::string(column, ' ');
            at = column;
        } else if (at > column) {
            out << ' ';
            ++at;
        }
        out << word;
        at += word.size();
    }
    out << '\n';
}

/// Returns an option's argument as help prints it after the names.
std::string argument_of(Option const& option) {
    if (option.argument.empty()) return {};
    bool const behind_equals = option.argument.starts_with('[') && option.argument != "[TOPIC]";
    return behind_equals ? join("[=", option.argument.substr(1)) : join(" ", option.argument);
}

/// Prints `names`, then `sentence` in its column.
void print_entry(std::ostream& out, std::string const& names, std::string_view sentence) {
    std::string const text = "  " + names;
    if (text.size() + 2 > column) {
        std::istringstream words(text);
        std::size_t at = 1;
        out << ' ';
        for (std::string word; words >> word; at += word.size() + 1) {
            if (at + word.size() > width) out << "\n ", at = 1;
            out << ' ' << word;
        }
        out << '\n' << std::string(column, ' ');
    } else {
        out << text << std::string(column - text.size(), ' ');
    }
    print_wrapped(out, sentence, column);
}

void print_option(std::ostream& out, Option const& option) {
    print_entry(out, join(option.names, argument_of(option)), option.sentence);
}

constexpr char compatibility[] = "compatibility";

constexpr char about_compatibility[] =
    R"(Options of other launchers, and of the MPI standard, and what each does here. Those that are Tutti's own are in
mpiexec --help. Behind each name stand the launchers that have it:
)";

std::string names_of_launchers(Option const& option) {
    std::string names;
    for (Launcher const& launcher : launchers)
        if (option.known_to.find(launcher.letter) != std::string_view::npos)
            names += (names.empty() ? "" : ", ") + std::string(launcher.name);
    return names;
}

/// Prints the options or directives of other launchers that have this effect.
void print_with_effect(std::ostream& out, std::span<Option const> options, Effect effect, std::string_view front) {
    for (Option const& option : options) {
        if (option.effect != effect || option.known_to.empty()) continue;
        print_entry(out, join(front, option.names, argument_of(option), " (", names_of_launchers(option), ")"),
                    option.sentence);
    }
}

std::string compatibility_text() {
    std::ostringstream out;
    out << about_compatibility;
    constexpr std::pair<Effect, std::string_view> sections[] = {
        {Effect::done, "Done"},
        {Effect::none, "Accepted, because it changes nothing here; mpiexec -v says so"},
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
        if (!option) throw Complaint(join("--help ", shown(topic), ": the topics are compatibility and the options"));
        print_option(out, *option);
        for (DirectiveList const& list : directive_lists())
            if (find_option(list.option) == option)
                for (Option const& directive : list.directives) print_option(out, directive);
        return out.str();
    }
    out << beginning;
    for (OptionGroup const& group : option_groups()) {
        if (group.options.front().effect != Effect::done) continue;
        out << '\n' << group.title << ":\n";
        for (Option const& option : group.options) print_option(out, option);
    }
    out << ending;
    return out.str();
}

}   // namespace tutti::launcher
