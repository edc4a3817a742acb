// SPDX-License-Identifier: BSD-3-Clause
// Options for the programs, their environment, debuggers, and the end of a job.
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "launcher/options/options.hpp"
#include "launcher/placement/allocation.hpp"
#include "runtime/base/error.hpp"
#include "runtime/settings/launch.hpp"
#include "topo/text.hpp"

// Options of other launchers that have no effect here, and those that are refused.

namespace tutti::launcher::groups {
namespace {

constexpr Option ignored_options[] = {
    {"--oversubscribe", "", "OP", "More ranks than cores are always allowed.", nullptr, Effect::ignored},
    {"--allow-run-as-root", "", "OP", "Root may run ranks.", nullptr, Effect::ignored},
    {"--use-hwthread-cpus", "", "OP", "Hardware threads are always used for placement.", nullptr, Effect::ignored},
    {"-disable-hostname-propagation -enable-hostname-propagation --do-not-resolve", "", "HO",
     "Host names are not resolved.", nullptr, Effect::ignored},
    {"-localhost", "NAME", "H", "mpiexec does not need the name of this node.", nullptr, Effect::ignored},
    {"--byslot", "", "OP", "Ranks fill one node after the other.", nullptr, Effect::ignored},
    {"--hetero-nodes --novm --use-regexp --enable-instant-on-support --fwd-mpirun-port -pmi-port --set-sid", "", "HOP",
     "mpiexec uses its own protocol for daemons and ranks.", nullptr, Effect::ignored},
    {"--noprefix --no-app-prefix", "", "OP",
     "Tutti is expected in the same folder on all nodes, unless --prefix names another one.", nullptr, Effect::ignored},
    {"--pmix-prefix --app-pmix-prefix", "FOLDER", "P", "mpiexec does not use PMIx.", nullptr, Effect::ignored},
    {"-topolib -demux --personality --cartofile -cf", "NAME", "HOP",
     "mpiexec uses hwloc and poll, and treats programs of MPICH and Open MPI alike.", nullptr, Effect::ignored},
    {"-disable-x", "", "H", "ssh is called with -x.", nullptr, Effect::ignored},
    {"--leave-session-attached --debug-daemons --debug-daemons-file", "", "OP",
     "Daemons stay attached, and their output appears on mpiexec's standard error.", nullptr, Effect::ignored},
    {"--tmpdir", "FOLDER", "P", "Nothing is written to a temporary folder.", nullptr, Effect::ignored},
    {"--report-state-on-timeout", "", "OP", "-timeout reports what each rank is waiting for, and where.", nullptr,
     Effect::ignored},
    {"--get-stack-traces", "", "OP",
     "-timeout reports each rank's MPI call, with its source line; gdb -p PROCESS shows the stack, and -v prints the "
     "process ids.",
     nullptr, Effect::ignored},
    {"--show-progress", "", "OP", "-v prints what is started where.", nullptr, Effect::ignored},
    {"--no-aggregate-help", "", "P", "Messages that several ranks report are printed once.", nullptr, Effect::ignored},
    {"--report-child-jobs-separately", "", "OP", "Ranks cannot start other ranks.", nullptr, Effect::ignored},
    {"-soft", "NUMBERS", "SP", "-soft allows fewer ranks than -n; all of them are started.", nullptr, Effect::ignored},
    {"--pset", "NAME", "P", "MPI_COMM_WORLD is the only set of processes.", nullptr, Effect::ignored},
    {"-usize", "N", "H", "MPI processes cannot be spawned, so the universe is MPI_COMM_WORLD.", nullptr,
     Effect::ignored},
    {"--parseable --parsable -p", "", "P", "The output has one form, for people and programs.", nullptr,
     Effect::ignored},
};

constexpr Option refused_options[] = {
    {"--debug --debugger -tv -d --debug-devel --stop-on-exec --stop-in-init --stop-in-app", "", "HOP",
     "-gdb starts each rank under a debugger, and -v prints what is started where.", nullptr, Effect::refused},
    {"-membind", "POLICY", "H", "Run numactl --membind=0 ./a.out instead of ./a.out to bind memory.", nullptr,
     Effect::refused},
    {"--preload-binary --preload-files --sstore-load", "", "OP",
     "Copy files to the nodes before the start, by scp or a shared folder.", nullptr, Effect::refused},
    {"--set-cwd-to-session-dir", "", "OP", "There is no session folder; -wdir names a folder.", nullptr,
     Effect::refused},
    {"-hybrid-hosts", "", "H", "-wdir names a folder, and --daemon the file of tutti-daemon, on all nodes.", nullptr,
     Effect::refused},
    {"--xml --xml-file", "", "OP", "-outfile-pattern and --output-filename keep the output of ranks apart.", nullptr,
     Effect::refused},
    {"--tune -am --amca", "", "OP", "Settings are variables (TUTTI_…), which tutti-info lists; -genv sets one.",
     nullptr, Effect::refused},
    {"-file", "NAME", "SP", "-configfile reads options and programs from a file.", nullptr, Effect::refused},
    {"-gpu-subdevs-per-proc", "N", "H", "A script can set ZE_AFFINITY_MASK by MPI_LOCALRANKID.", nullptr,
     Effect::refused},
    {"--gpu-support", "BOOL", "P", "Buffers must be in the memory of the host.", nullptr, Effect::refused},
    {"--with-ft", "KIND", "P",
     "Tutti has no MPI functions for failed ranks; --enable-recovery lets the other ranks go on.", nullptr,
     Effect::refused},
    {"--max-restarts", "N", "OP", "Ranks are not started again.", nullptr, Effect::refused},
    {"--max-vm-size", "N", "OP", "-hosts names the nodes on which daemons start.", nullptr, Effect::refused},
    {"--launch-agent", "COMMAND", "OP",
     "--daemon names the file of tutti-daemon on other nodes, and --launcher-agent the command that starts it.",
     nullptr, Effect::refused},
    {"--dvm --hnp --add-host --add-hostfile --keepalive", "", "OP",
     "There is no persistent server; -hosts and -hostfile name the nodes of each job.", nullptr, Effect::refused},
    {"-nameserver --ompi-server", "ADDRESS", "HO",
     "Tutti has no MPI_Publish_name and no MPI_Comm_accept, so there is no name server.", nullptr, Effect::refused},
    {"--report-uri", "WHERE", "OP", "There is no server to which another program could connect.", nullptr,
     Effect::refused},
    {"-pmi_args", "", "H", "A program that is started without mpiexec does not start one.", nullptr, Effect::refused},
    {"-profile", "", "H", "--stats and --report show where the ranks' time goes; mpiexec has no profile of its own.",
     nullptr, Effect::refused},
    {"--output-proctable", "", "OP", "-v prints each rank's process id.", nullptr, Effect::refused},
    {"--display-comm --display-comm-finalize", "", "P", "--stats shows the access paths between ranks.", nullptr,
     Effect::refused},
    {"--stream-buffering", "N", "P",
     "Output arrives in lines; run stdbuf -o0 ./a.out instead of ./a.out to change a rank's buffering.", nullptr,
     Effect::refused},
};

}   // namespace

std::span<Option const> ignored() { return ignored_options; }
std::span<Option const> refused() { return refused_options; }

namespace {

using Inherit = EnvironmentRules::Inherit;

void pass_with_prefix(EnvironmentRules& rules, std::string_view front) {
    for (char const* const* entry = environ; *entry; ++entry) {
        std::string_view const text = *entry;
        std::size_t const equals = text.find('=');
        if (text.starts_with(front) && equals != std::string_view::npos)
            rules.set.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    }
}

/// Passes on variables: "A,B" passes two, "P*" all that begin with P, and "A=1" sets one, whose value may contain
/// commas.
void pass_variables(EnvironmentRules& rules, std::string_view text) {
    std::size_t const comma = text.find(','), equals = text.find('=');
    if (comma < equals) {
        pass_variables(rules, text.substr(0, comma));
        return pass_variables(rules, text.substr(comma + 1));
    }
    std::string const name(text.substr(0, equals));
    if (equals != std::string_view::npos) return void(rules.set.emplace_back(name, text.substr(equals + 1)));
    if (name.ends_with('*')) return pass_with_prefix(rules, std::string_view(name).substr(0, name.size() - 1));
    if (char const* value = std::getenv(name.c_str())) return void(rules.set.emplace_back(name, value));
    throw LaunchError(join("-x ", printable(name), ": this variable is not set in the environment of mpiexec"));
}

/// Applies those of Open MPI's parameters that have an equivalent here.
void apply_open_mpi_parameter(Job& job, std::string const& name, std::string const& value) {
    if (name == "plm_rsh_agent" || name == "plm_ssh_agent") {
        job.agent = value;
    } else if (name == "btl_tcp_if_include") {
        job.interface = value;
        job.environment.set.emplace_back("TUTTI_NETWORK", value);
    } else if (name == "mca_base_env_list") {
        for (std::string const& one : topo::split_words(value, ";")) pass_variables(job.environment, one);
    } else {
        job.notes.push_back(
            join("Open MPI's parameter ", printable(name), " has no effect; tutti-info lists Tutti's own settings"));
    }
}

/// Appends `text`, after a comma, to a variable; `inherited` is its value if no option has set it.
void append(EnvironmentRules& rules, std::string const& name, std::string const& inherited, std::string const& text) {
    auto const given = std::ranges::find(rules.set, name, &std::pair<std::string, std::string>::first);
    if (given != rules.set.end()) given->second += "," + text;
    else rules.set.emplace_back(name, inherited.empty() ? text : inherited + "," + text);
}

/// Appends a request to TUTTI_COLL, so that it takes precedence over earlier requests for the same collective.
void request_algorithms(EnvironmentRules& rules, std::string const& text) {
    std::size_t const equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
        throw LaunchError(join("--coll needs COLLECTIVE=ALGORITHM, such as bcast=slots, not '", printable(text),
                               "'; tutti-info --algorithms lists the algorithms"));
    char const* const inherited = std::getenv("TUTTI_COLL");
    append(rules, "TUTTI_COLL", inherited ? inherited : "", text);
    append(rules, launch::coll_option_variable, "", text);   // messages then name --coll
}

void check_architecture(std::string const& name) {
    utsname system{};
    uname(&system);
    if (topo::lower(name) != topo::lower(system.machine))
        throw LaunchError(join("-arch ", printable(name), ": this machine is ", system.machine,
                               "; all machines of a job must have the same architecture"));
}

void set_initial_errhandler(Job& job, std::string const& name) {
    constexpr std::pair<std::string_view, char const*> names[] = {
        {"mpi_errors_are_fatal", "fatal"}, {"mpi_errors_abort", "abort"}, {"mpi_errors_return", "return"}};
    for (auto const& [standard, value] : names)
        if (topo::lower(name) == standard)
            return void(job.environment.set.emplace_back("TUTTI_INITIAL_ERRHANDLER", value));
    throw LaunchError(
        join("-initial-errhandler must be mpi_errors_are_fatal, mpi_errors_abort or mpi_errors_return, not '",
             printable(name), "'"));
}

void check_memory_kinds(std::string const& kinds) {
    for (std::string const& one : split_list(kinds)) {
        std::string const kind = topo::lower(one.substr(0, one.find(':')));
        if (kind != "system" && kind != "mpi")
            throw LaunchError(join("-memory-alloc-kinds ", printable(one),
                                   ": buffers must be in the memory of the host ", "(system, mpi)"));
    }
}

void set_windows(Job& job, std::string ranks) {
    if (ranks.ends_with('!')) job.keep_windows = true, ranks.pop_back();
    job.windows = ranks == "-1" || ranks == "all" ? std::vector<int>{-1} : parse_number_list("--xterm", ranks);
}

/// Checks the list of --forward-signals; mpiexec forwards these signals anyway.
void check_forwarded_signals(std::string const& list) {
    constexpr std::array passed = {"int", "term", "hup", "quit", "usr1", "usr2", "tstp", "cont"};
    constexpr std::array numbers = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};
    for (std::string const& one : split_list(list)) {
        std::string const word = topo::lower(one);
        bool const named = std::ranges::find(passed, word.starts_with("sig") ? word.substr(3) : word) != passed.end();
        auto const number = topo::whole_number(word);
        if (!named && (!number || std::ranges::find(numbers, *number) == numbers.end()))
            throw LaunchError(join("--forward-signals ", printable(one), ": only SIGINT, SIGTERM, SIGHUP, SIGQUIT, ",
                                   "SIGUSR1, SIGUSR2, SIGTSTP and SIGCONT are forwarded to the ranks"));
    }
}

void inherit_environment(Job& job, std::string const& value) {
    job.environment.inherit = parse_boolean("--fwd-environment", value) ? Inherit::all : Inherit::none;
}

constexpr Option program_options[] = {
    {"-n -np -c", "N", "SHOP", "Start N ranks of the program (default: 1). More ranks than cores are allowed.",
     [](Target t, Values v) { t.program.ranks = parse_number("-n", v[0], 1); }, Effect::applied,
     "Start N ranks of the program"},
    {":", "", "SHOP",
     "Ends one program and begins the next: mpiexec -n 1 ./boss : -n 3 ./worker. All ranks share one world.", nullptr},
    {"--app -configfile", "FILE", "SHOP",
     "Read options and programs from FILE, one program per line; # begins a comment.", nullptr},
    {"-wdir -wd", "FOLDER", "SHOP", "Start the program in FOLDER.",
     [](Target t, Values v) { t.program.directory = v[0]; }},
    {"-path", "FOLDERS", "SOP", "Search for the program in these folders, separated by colons, before PATH.",
     [](Target t, Values v) { t.program.path = v[0]; }},
    {"--index-argv-by-rank", "", "O", "Add the rank to the name with which each program is called: ./a.out-0.",
     [](Target t, Values) { t.job.index_argv = true; }},
    {"-arch", "NAME", "SP", "Start only on this architecture: refused unless NAME is that of this machine (uname -m).",
     [](Target, Values v) { check_architecture(v[0]); }},
    {"-initial-errhandler", "mpi_errors_are_fatal|mpi_errors_abort|mpi_errors_return", "SP",
     "The initial error handler of MPI_COMM_WORLD. The same as TUTTI_INITIAL_ERRHANDLER.",
     [](Target t, Values v) { set_initial_errhandler(t.job, v[0]); }},
    {"-memory-alloc-kinds", "KINDS", "SP", "The kinds of memory that the program uses: system and mpi.",
     [](Target, Values v) { check_memory_kinds(v[0]); }},
    {"--drop-in", "", "",
     "Use Tutti instead of MPICH for a program that was built with MPICH, Intel MPI, MVAPICH or Cray MPICH.",
     [](Target t, Values) { t.job.drop_in = true; }, Effect::applied, "Run a program that was built with MPICH"},
    {"--preload-arena", "yes|no|auto", "",
     "Preload Tutti's allocation functions, which allocate large blocks in memory shared by the ranks; "
     "auto: for interpreters, scripts and programs that are not linked with MPI themselves.",
     [](Target t, Values v) { t.job.preload_arena = parse_yes_no_auto("--preload-arena", v[0]); }},
    {"--coll", "COLLECTIVE=ALGORITHM[:PARAMETER=VALUE,…]", "",
     "Use this algorithm for all calls that it supports: --coll allreduce=xhc:hierarchy=numa+socket,chunk=16K; for "
     "other calls, a message reports why and which algorithm runs instead. An unknown name is reported and ignored; "
     "with --strict it ends the job. May be given several times; the same as TUTTI_COLL. tutti-info --algorithms lists "
     "the algorithms.",
     [](Target t, Values v) { request_algorithms(t.job.environment, v[0]); }},
    {"--coll-table", "tuned|mpich|FILE", "",
     "Choose the algorithms of collectives by these rules, before the default table: those of Open MPI's component "
     "tuned or of MPICH, applied to Tutti's versions of their algorithms, or those of a file as tutti-tune writes it. "
     "The same as TUTTI_TUNING. tutti-info --table prints the rules.",
     [](Target t, Values v) { t.job.environment.set.emplace_back("TUTTI_TUNING", v[0]); }},
};

constexpr Option environment_options[] = {
    {"-env", "NAME VALUE", "H", "Set a variable for this program.",
     [](Target t, Values v) { t.program.environment.set.emplace_back(v[0], v[1]); }},
    {"-genv", "NAME VALUE", "H", "Set a variable for all programs.",
     [](Target t, Values v) { t.job.environment.set.emplace_back(v[0], v[1]); }},
    {"-x", "NAME[=VALUE]", "OP",
     "Pass a variable on, or set it, for this program; A,B passes two on, \"P*\" all that begin with P.",
     [](Target t, Values v) { pass_variables(t.program.environment, v[0]); }},
    {"-envall -genvall", "", "H", "Pass the whole environment on (default).",
     [](Target t, Values) { t.job.environment.inherit = Inherit::all; }},
    {"-envnone", "", "H", "Pass only variables that options set to this program.",
     [](Target t, Values) { t.program.environment.inherit = Inherit::none; }},
    {"-genvnone", "", "H", "The same for all programs.",
     [](Target t, Values) { t.job.environment.inherit = Inherit::none; }},
    {"-envlist", "NAMES", "H", "Pass only these variables on to this program, separated by commas.",
     [](Target t, Values v) {
         t.program.environment.inherit = Inherit::listed;
         t.program.environment.list = split_list(v[0]);
     }},
    {"-genvlist", "NAMES", "H", "The same for all programs.",
     [](Target t, Values v) {
         t.job.environment.inherit = Inherit::listed;
         t.job.environment.list = split_list(v[0]);
     }},
    {"--fwd-environment", "[BOOL]", "P", "Pass the whole environment on to all programs, or with =false none of it.",
     [](Target t, Values v) { inherit_environment(t.job, v.empty() ? "true" : v[0]); }},
    {"--mca --gmca --omca --gomca --prtemca --pmixmca --gpmixmca", "NAME VALUE", "OP",
     "Open MPI's parameters: plm_rsh_agent and plm_ssh_agent are --launcher-agent, btl_tcp_if_include is -iface, "
     "mca_base_env_list is -x; other parameters have no effect, which a message reports.",
     [](Target t, Values v) { apply_open_mpi_parameter(t.job, v[0], v[1]); }},
};

constexpr Option debugger_options[] = {
    {"-gdb --gdb", "", "",
     "Start each rank under gdb in its own xterm window; --help debugging shows how to debug without windows.",
     [](Target t, Values) { t.job.debugger = true; }},
    {"--xterm", "RANKS", "OP",
     "Start these ranks, such as 0,2-3, in their own windows, or -1 for all; with a ! at the end, windows stay open "
     "after the rank has ended. With -gdb, only these ranks run under gdb.",
     [](Target t, Values v) { set_windows(t.job, v[0]); }},
};

constexpr Option termination_options[] = {
    {"-timeout", "SECONDS", "OP",
     "End the job after SECONDS with exit code 124, and report what each rank was waiting for; 0: never. The variable "
     "MPIEXEC_TIMEOUT does the same.",
     [](Target t, Values v) { t.job.timeout = parse_seconds("-timeout", v[0], 0); }, Effect::applied,
     "End the job after SECONDS; report what ranks wait for"},
    {"--on-deadlock", "end|wait", "",
     "If ranks wait for each other and nothing can release them, or if their collectives do not match, report the "
     "ranks and their calls, and end the job with exit code 125 (end, the default) or keep it alive for a debugger "
     "(wait). TUTTI_DIAGNOSIS=no disables the detection. Ranks that poll without progress are reported after 30 "
     "seconds (TUTTI_POLLING_LIMIT), and the job continues.",
     [](Target t, Values v) { t.job.keep_on_deadlock = parse_choice("--on-deadlock", v[0], "wait", "end"); }},
    {"--check", "", "",
     "Check for more errors, at a cost in time: sends that depend on buffering, buffers that are accessed while an "
     "operation uses them, messages and threads whose order may vary, and more (guides/checking.md). The same as "
     "TUTTI_DIAGNOSIS=full.",
     [](Target t, Values) { t.job.environment.set.emplace_back("TUTTI_DIAGNOSIS", "full"); }, Effect::applied,
     "Check for more errors of the program"},
    {"-disable-auto-cleanup -dac --enable-recovery --continuous", "", "HOP",
     "Keep the other ranks running when a rank fails or exits early; a rank that waits for it never returns. MPI_Abort "
     "still ends the job. The exit code is that of the first rank that failed.",
     [](Target t, Values) { t.job.keep_going = true; }},
    {"-enable-auto-cleanup --disable-recovery", "", "HOP", "End the job when a rank fails (default).",
     [](Target t, Values) { t.job.keep_going = false; }},
    {"--runtime-options", "LIST", "P",
     "Open MPI 5's list of directives: donotlaunch, recoverable, continuous, timeout=SECONDS, fwd-environment and "
     "others.",
     [](Target t, Values v) { apply_directives(t, directives_of("--runtime-options"), v[0]); }},
    {"--forward-signals", "SIGNALS", "P",
     "Forward these signals to the ranks; only signals that are always forwarded are accepted.",
     [](Target, Values v) { check_forwarded_signals(v[0]); }},
    {"-print-all-exitcodes", "", "H", "Print the exit code or the signal with which each rank ended.",
     [](Target t, Values) { t.job.exit_codes = true; }},
    {"--messages", "text|json", "", "The form of diagnostics: text for people, or one line of JSON for tools.",
     [](Target t, Values v) { t.job.json_messages = parse_choice("--messages", v[0], "json", "text"); }},
    {"--explain", "CODE", "",
     "Print the explanation of a diagnosis code such as T01: the error, a wrong program, a correct one, and the reason "
     "in MPI; list: all codes.",
     [](Target t, Values v) { t.job.explain = v[0]; }},
    {"-h", "", "HOP", "Print the most common options.",
     [](Target t, Values) { t.job.show_help = t.job.short_help = true; }},
    {"--help -?", "[TOPIC]", "HOP",
     "Print all options, or the help on a topic: an option, a part of the full help such as placement or exit-codes, "
     "or compatibility, which lists what the options of MPICH and Open MPI do here. man is the man page; bash and zsh "
     "are completion scripts for these shells.",
     [](Target t, Values v) {
         t.job.show_help = true;
         if (!v.empty()) t.job.help_topic = v[0];
     }},
    {"-V --version -info", "", "HOP", "Print the version.", [](Target t, Values) { t.job.show_version = true; }},
};

}   // namespace

std::span<Option const> programs() { return program_options; }
std::span<Option const> environment() { return environment_options; }
std::span<Option const> debuggers() { return debugger_options; }
std::span<Option const> termination() { return termination_options; }

}   // namespace tutti::launcher::groups
