// SPDX-License-Identifier: BSD-3-Clause
// The description of mpiexec: its options come from the table of options, the other texts are here.
#include <stdexcept>

#include "launcher/options/options.hpp"
#include "launcher/start/commands.hpp"
#include "runtime/base/error.hpp"
#include "runtime/settings/variables.hpp"

namespace tutti::launcher {
namespace {

using apps::Entry;
using apps::Section;

constexpr char description[] =
    R"(Containers, root, more ranks than cores, and systems without a network or /dev/shm need no option.

Options of MPICH and Open MPI are accepted, with one dash or two, as --name=value or --name value; mpiexec --help
compatibility lists them all, including those without effect and those that are refused.

A program whose name has no slash is searched in PATH, then, with a warning, in the current folder.)";

constexpr char on_nodes[] =
    R"(On each other node, tutti-daemon acts for mpiexec; it must be installed there in the same folder. ssh must not
ask for a password. Inside a job of Slurm, Flux, PBS, LSF, Grid Engine, Cobalt or OAR, the default nodes are those of
the job. Ranks have the environment and the current folder of mpiexec on every node. If a node, its connection or
mpiexec itself fails, all ranks on all nodes end within two seconds.)";

constexpr char on_output[] = R"(Output arrives in whole lines.)";

/// Returns the recipes for gdb.
std::string on_debugging() {
    return join(
        "Where a rank crashes, without windows; -l puts the rank in front of each line:\n\n    mpiexec -n 4 -l ",
        gdb_without_windows, " ./a.out\n\n",
        "A gdb in a window for each rank, and for rank 1 only:\n\n    mpiexec -n 4 -gdb ./a.out\n"
        "    mpiexec -n 4 -gdb --xterm 1 ./a.out\n\n"
        "A job that hangs: -v prints the process of each rank, and gdb -p PROCESS attaches to it; SIGUSR1 to "
        "mpiexec reports which ranks wait for which. --on-deadlock wait keeps a deadlocked job for a debugger. "
        "Compile with -g to see source lines.");
}

std::vector<Entry> exit_codes() {
    return {{"0", "", "All ranks succeeded, or called MPI_Abort with a code whose last 8 bits are 0, such as 256."},
            {"1", "", "A rank exited with code 0 between MPI_Init and MPI_Finalize, or output was lost."},
            {"2", "", "An option is invalid."},
            {"124", "", "The time of -timeout has passed."},
            {"125", "", "Deadlock: ranks wait for each other."},
            {"126", "", "The program cannot be executed, or it cannot join the job."},
            {"127", "", "The program cannot be found."},
            {"128+N", "", "Signal N ended the first rank that failed."},
            {"other", "", "That of the first rank that failed, or the last 8 bits of the code given to MPI_Abort."}};
}

constexpr char on_signals[] =
    R"(SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGUSR2 are forwarded to the ranks; the second SIGINT, SIGTERM, SIGHUP or
SIGQUIT kills them. SIGUSR1 reports which ranks wait for which and where, and the job continues; it is forwarded only to
ranks that have a handler for it.

If a rank fails, the others and their child processes receive SIGTERM and after 0.3 seconds SIGKILL. Processes that
still run after the last rank has ended are killed with a message; if one of them could still print, the exit code is
not 0. Programs that prompt for a password read it from standard input, because mpiexec owns the terminal.)";

constexpr char on_variables[] =
    R"(A rank has PMI_RANK, PMI_SIZE, MPI_LOCALRANKID, MPI_LOCALNRANKS, OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE,
OMPI_COMM_WORLD_LOCAL_RANK, … as with MPICH and Open MPI.

tutti-info lists the settings (TUTTI_…) and the algorithms. mpiexec itself reads these variables:)";

constexpr char on_several_jobs[] =
    R"(If several jobs or other programs share a machine, ranks adapt how they wait. --stats shows how they waited; the
variable TUTTI_WAIT and the info key tutti_wait change it (guides/several-jobs.md).)";

/// Returns the variables that mpiexec itself reads.
std::vector<Entry> variables() {
    std::vector<Entry> all{
        {"MPIEXEC_TIMEOUT", "", "The same as -timeout, if that is not given."},
        {"NO_COLOR", "", "If it is set and not empty, reports have no colours. They have colours only on terminals."},
        {"COLUMNS", "", "The width of the help, if it is set; at most 110."}};
    for (VariableRow const& row : describe_variables(nullptr))
        if (row.scope == VariableScope::launcher) all.push_back({row.name, "", row.description});
    return all;
}

/// Returns the argument as a manual writes it: one in brackets must follow a = here.
std::string argument_of(Option const& option) {
    bool const after_equals = option.argument.starts_with('[') && option.argument != "[TOPIC]";
    return after_equals ? join("[=", option.argument.substr(1)) : std::string(option.argument);
}

Entry entry_of(Option const& option) {
    Entry entry{std::string(option.names), argument_of(option), std::string(option.description),
                std::string(option.summary)};
    for (DirectiveList const& list : directive_lists())
        if (find_option(list.option) == &option)
            for (Option const& directive : list.directives) entry.parts.push_back(entry_of(directive));
    return entry;
}

std::string launcher_names(Option const& option) {
    std::string names;
    for (Launcher const& launcher : launchers)
        if (option.supported_by.find(launcher.letter) != std::string_view::npos)
            names += (names.empty() ? "" : ", ") + std::string(launcher.name);
    return names;
}

constexpr char compatibility_introduction[] =
    R"(Options of other launchers and of the MPI standard, and their effect here. mpiexec --help lists Tutti's own
options. The launchers that support an option follow its name.)";

/// Adds the options or directives of other launchers that have this effect.
void add_with_effect(std::vector<Entry>& all, std::span<Option const> options, Effect effect, std::string_view front) {
    for (Option const& option : options)
        if (option.effect == effect && !option.supported_by.empty())
            all.push_back(
                {join(front, option.names, apps::argument_text(argument_of(option)), " (", launcher_names(option), ")"),
                 "", std::string(option.description)});
}

/// Returns three sections with the topic `compatibility`.
std::vector<Section> compatibility() {
    constexpr std::pair<Effect, char const*> effects[] = {
        {Effect::applied, "Done"},
        {Effect::ignored, "Accepted without effect; mpiexec -v reports them"},
        {Effect::refused, "Refused"}};
    std::vector<Section> sections;
    for (auto const& [effect, title] : effects) {
        Section section{
            "compatibility", title, sections.empty() ? compatibility_introduction : "", {}, Section::Kind::on_request};
        for (OptionGroup const& group : option_groups()) add_with_effect(section.entries, group.options, effect, "");
        for (DirectiveList const& list : directive_lists())
            add_with_effect(section.entries, list.directives, effect,
                            join(list.option, list.separators.empty() ? " …:" : " "));
        sections.push_back(std::move(section));
    }
    return sections;
}

std::string text_before(std::string_view topic) {
    return topic == "nodes" ? on_nodes : topic == "output" ? on_output : topic == "debugging" ? on_debugging() : "";
}

}   // namespace

apps::Manual manual() {
    apps::Manual all;
    all.name = "mpiexec";
    all.aliases = {"mpirun", "mpiexec.hydra"};
    all.purpose = "starts the ranks of an MPI program, on one machine or several";
    all.usage = {"mpiexec [-n N] [OPTION…] PROGRAM [ARGUMENT…] [: [-n N] PROGRAM …]"};
    all.description = description;
    all.examples = {
        {"mpiexec -n 4 ./a.out", "four ranks"},
        {"mpiexec -n 8 -l ./a.out", "eight, each line with its rank in front"},
        {"mpiexec -n 1 ./boss : -n 3 ./worker", "two programs in one world"},
        {"mpiexec -hosts one:4,two:4 ./a.out", "eight ranks on two machines that ssh reaches"},
        {"mpiexec -n 4 --drop-in ./built-with-mpich", "a program that was built against MPICH"},
        {"mpiexec -n 4 -timeout 60 ./a.out", "ended after a minute, with a report of which rank waited for which"},
        {"mpiexec -n 8 --show-hierarchy", "where eight ranks would run"}};
    for (OptionGroup const& group : option_groups()) {
        if (group.topic.empty()) continue;
        Section section{
            std::string(group.topic), std::string(group.title), text_before(group.topic), {}, Section::Kind::options};
        for (Option const& option : group.options) section.entries.push_back(entry_of(option));
        all.sections.push_back(std::move(section));
    }
    all.sections.push_back({"exit-codes", "Exit status", "", exit_codes()});
    all.sections.push_back({"signals", "Signals", on_signals});
    all.sections.push_back({"variables", "Environment", on_variables, variables()});
    all.sections.push_back({"several-jobs", "Several jobs on one machine", on_several_jobs});
    for (Section& section : compatibility()) all.sections.push_back(std::move(section));
    all.see_also = "tutti-info(1), tutti-bench(1), tutti-tune(1)";
    all.operands = apps::Operands::program;
    return all;
}

std::string help_text(std::string const& topic) {
    for (VariableRow const& row : describe_variables(nullptr))
        if (row.name == topic)
            return apps::help_entry(topic, join(row.description, " Values: ", row.range, "."), topic.size() + 4);
    try {
        return apps::help_on(manual(), topic);
    } catch (std::invalid_argument const& error) { throw LaunchError(error.what()); }
}

}   // namespace tutti::launcher
