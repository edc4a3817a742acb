// SPDX-License-Identifier: BSD-3-Clause
// Options for the programs, their environment, debuggers, and the end of a job.
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "launcher/options/groups.hpp"
#include "launcher/options/options.hpp"
#include "launcher/placement/allocation.hpp"
#include "launcher/placement/rank_file.hpp"
#include "topo/text.hpp"

// Options of other launchers that have no effect here, and those that are refused.

namespace tutti::launcher::groups {
namespace {

constexpr Option that_change_nothing[] = {
    {"--oversubscribe", "", "OP", "Ranks may outnumber cores.", nullptr, Effect::none},
    {"--allow-run-as-root", "", "OP", "Root may run ranks.", nullptr, Effect::none},
    {"--use-hwthread-cpus", "", "OP", "Hardware threads count when ranks are placed.", nullptr, Effect::none},
    {"-disable-hostname-propagation -enable-hostname-propagation --do-not-resolve", "", "HO",
     "No name of a host is resolved on one node.", nullptr, Effect::none},
    {"-localhost", "NAME", "H", "mpiexec knows this node without its name.", nullptr, Effect::none},
    {"--byslot", "", "OP", "Ranks fill one node after the other.", nullptr, Effect::none},
    {"--hetero-nodes --novm --use-regexp --enable-instant-on-support --fwd-mpirun-port -pmi-port --set-sid", "", "HOP",
     "mpiexec reaches its daemons and ranks in ways of its own.", nullptr, Effect::none},
    {"--noprefix --no-app-prefix", "", "OP",
     "Tutti is expected in the same folder on all nodes, unless --prefix names another one.", nullptr, Effect::none},
    {"--pmix-prefix --app-pmix-prefix", "FOLDER", "P", "mpiexec does not use PMIx.", nullptr, Effect::none},
    {"-topolib -demux --personality --cartofile -cf", "NAME", "HOP",
     "mpiexec uses hwloc and poll, and treats programs of MPICH and Open MPI alike.", nullptr, Effect::none},
    {"-disable-x", "", "H", "ssh is called with -x.", nullptr, Effect::none},
    {"--leave-session-attached --debug-daemons --debug-daemons-file", "", "OP",
     "Daemons stay attached, and what they print comes to mpiexec's standard error.", nullptr, Effect::none},
    {"--tmpdir", "FOLDER", "P", "Nothing is written to a temporary folder.", nullptr, Effect::none},
    {"--report-state-on-timeout", "", "OP", "-timeout shows what each rank waits for, and where.", nullptr,
     Effect::none},
    {"--get-stack-traces", "", "OP",
     "-timeout shows each rank's MPI call, with its source line; gdb -p PROCESS shows the stack, and -v names "
     "processes.",
     nullptr, Effect::none},
    {"--show-progress", "", "OP", "-v says what is started where.", nullptr, Effect::none},
    {"--no-aggregate-help", "", "P", "What several ranks report is printed once.", nullptr, Effect::none},
    {"--report-child-jobs-separately", "", "OP", "Ranks start no ranks.", nullptr, Effect::none},
    {"-soft", "NUMBERS", "SP", "-soft allows fewer ranks than -n; all of them are started.", nullptr, Effect::none},
    {"--pset", "NAME", "P", "MPI_COMM_WORLD is the only set of processes.", nullptr, Effect::none},
    {"-usize", "N", "H", "Processes cannot be started by MPI here, so the universe is MPI_COMM_WORLD.", nullptr,
     Effect::none},
    {"--parseable --parsable -p", "", "P", "The output has one form, for people and programs.", nullptr, Effect::none},
};

constexpr Option that_are_refused[] = {
    {"--debug --debugger -tv -d --debug-devel --stop-on-exec --stop-in-init --stop-in-app", "", "HOP",
     "-gdb starts each rank under a debugger, and -v says what is started where.", nullptr, Effect::refused},
    {"-membind", "POLICY", "H", "numactl --membind=0 ./a.out in the place of ./a.out binds memory.", nullptr,
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
     "--daemon names the file of tutti-daemon on other nodes, --launcher-agent what starts it.", nullptr,
     Effect::refused},
    {"--dvm --hnp --add-host --add-hostfile --keepalive", "", "OP",
     "There is no server that stays between jobs; -hosts and -hostfile name the nodes of each.", nullptr,
     Effect::refused},
    {"-nameserver --ompi-server", "ADDRESS", "HO",
     "Tutti has no MPI_Publish_name and no MPI_Comm_accept, so there is no name server.", nullptr, Effect::refused},
    {"--report-uri", "WHERE", "OP", "There is no server that another program could call.", nullptr, Effect::refused},
    {"-pmi_args", "", "H", "A program that is started on its own starts no mpiexec.", nullptr, Effect::refused},
    {"-profile", "", "H", "--stats and --report show where the ranks' time goes; mpiexec has no profile of its own.",
     nullptr, Effect::refused},
    {"--output-proctable", "", "OP", "-v names each rank's process.", nullptr, Effect::refused},
    {"--display-comm --display-comm-finalize", "", "P", "--stats shows by which way ranks have reached each other.",
     nullptr, Effect::refused},
    {"--stream-buffering", "N", "P",
     "Output arrives in lines; stdbuf -o0 ./a.out in the place of ./a.out changes a rank's.", nullptr, Effect::refused},
};

}   // namespace

std::span<Option const> accepted() { return that_change_nothing; }
std::span<Option const> refused() { return that_are_refused; }

namespace {

using Inherit = EnvironmentRules::Inherit;

void pass_all_that_begin_with(EnvironmentRules& rules, std::string_view front) {
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
    if (name.ends_with('*')) return pass_all_that_begin_with(rules, std::string_view(name).substr(0, name.size() - 1));
    if (char const* value = std::getenv(name.c_str())) return void(rules.set.emplace_back(name, value));
    throw Complaint(join("-x ", shown(name), ": there is no such variable in the environment of mpiexec"));
}

/// Applies those of Open MPI's parameters that have an equivalent here.
void open_mpi_parameter(Job& job, std::string const& name, std::string const& value) {
    if (name == "plm_rsh_agent" || name == "plm_ssh_agent") {
        job.agent = value;
    } else if (name == "btl_tcp_if_include") {
        job.interface = value;
        job.environment.set.emplace_back("TUTTI_NETWORK", value);
    } else if (name == "mca_base_env_list") {
        for (std::string const& one : topo::split_words(value, ";")) pass_variables(job.environment, one);
    } else {
        job.notes.push_back(join("Open MPI's parameter ", shown(name), " has no effect; tutti-info lists our own"));
    }
}

/// Appends a request to TUTTI_COLL, so that it takes precedence over earlier requests for the same collective.
void request_algorithms(EnvironmentRules& rules, std::string const& text) {
    std::size_t const equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
        throw Complaint(join("--coll wants COLLECTIVE=ALGORITHM, such as bcast=slots, not '", shown(text),
                             "'; tutti-info --algorithms lists what there is"));
    constexpr char name[] = "TUTTI_COLL";
    auto const given = std::ranges::find(rules.set, name, &std::pair<std::string, std::string>::first);
    char const* const inherited = std::getenv(name);
    if (given != rules.set.end()) given->second += "," + text;
    else rules.set.emplace_back(name, inherited && *inherited ? join(inherited, ",", text) : text);
}

void only_this_architecture(std::string const& name) {
    utsname system{};
    uname(&system);
    if (topo::lower(name) != topo::lower(system.machine))
        throw Complaint(join("-arch ", shown(name), ": this machine is ", system.machine, ", and so are all of a job"));
}

void first_errhandler(Job& job, std::string const& name) {
    constexpr std::pair<std::string_view, char const*> names[] = {
        {"mpi_errors_are_fatal", "fatal"}, {"mpi_errors_abort", "abort"}, {"mpi_errors_return", "return"}};
    for (auto const& [standard, value] : names)
        if (topo::lower(name) == standard)
            return void(job.environment.set.emplace_back("TUTTI_INITIAL_ERRHANDLER", value));
    throw Complaint(
        join("-initial-errhandler must be mpi_errors_are_fatal, mpi_errors_abort or mpi_errors_return, not '",
             shown(name), "'"));
}

void memory_kinds(std::string const& kinds) {
    for (std::string const& one : split_list(kinds)) {
        std::string const kind = topo::lower(one.substr(0, one.find(':')));
        if (kind != "system" && kind != "mpi")
            throw Complaint(join("-memory-alloc-kinds ", shown(one), ": buffers must be in the memory of the host ",
                                 "(system, mpi)"));
    }
}

void windows_for(Job& job, std::string ranks) {
    if (ranks.ends_with('!')) job.keep_windows = true, ranks.pop_back();
    job.windows = ranks == "-1" || ranks == "all" ? std::vector<int>{-1} : number_list("--xterm", ranks);
}

/// Checks the list of --forward-signals; mpiexec forwards these signals anyway.
void forward_signals(std::string const& list) {
    constexpr std::array passed = {"int", "term", "hup", "quit", "usr1", "usr2", "tstp", "cont"};
    constexpr std::array numbers = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};
    for (std::string const& one : split_list(list)) {
        std::string const word = topo::lower(one);
        bool const named = std::ranges::find(passed, word.starts_with("sig") ? word.substr(3) : word) != passed.end();
        auto const number = topo::whole_number(word);
        if (!named && (!number || std::ranges::find(numbers, *number) == numbers.end()))
            throw Complaint(join("--forward-signals ", shown(one), ": ranks get SIGINT, SIGTERM, SIGHUP, SIGQUIT, ",
                                 "SIGUSR1, SIGUSR2, SIGTSTP and SIGCONT, and no other signals of mpiexec's"));
    }
}

void inherit_environment(Job& job, std::string const& value) {
    job.environment.inherit = boolean("--fwd-environment", value) ? Inherit::all : Inherit::none;
}

constexpr Option of_programs[] = {
    {"-n -np -c", "N", "SHOP", "Start N ranks of the program (1 when nothing is said). More ranks than cores are fine.",
     [](Target t, Values v) { t.program.ranks = number("-n", v[0], 1); }},
    {":", "", "SHOP",
     "Ends one program and begins the next: mpiexec -n 1 ./boss : -n 3 ./worker. All ranks share one world.", nullptr},
    {"--app -configfile", "FILE", "SHOP",
     "Read options and programs from FILE, one program per line; # begins a comment.", nullptr},
    {"-wdir -wd", "FOLDER", "SHOP", "Start the program in FOLDER.",
     [](Target t, Values v) { t.program.directory = v[0]; }},
    {"-path", "FOLDERS", "SOP", "Look for the program in these folders, separated by colons, before those of PATH.",
     [](Target t, Values v) { t.program.path = v[0]; }},
    {"--index-argv-by-rank", "", "O", "Add the rank to the name with which each program is called: ./a.out-0.",
     [](Target t, Values) { t.job.index_argv = true; }},
    {"-arch", "NAME", "SP", "Start only on machines like this: refused unless NAME is this one's (uname -m).",
     [](Target, Values v) { only_this_architecture(v[0]); }},
    {"-initial-errhandler", "NAME", "SP",
     "The error handler that MPI_COMM_WORLD begins with: mpi_errors_are_fatal, mpi_errors_abort or mpi_errors_return. "
     "The "
     "same as TUTTI_INITIAL_ERRHANDLER.",
     [](Target t, Values v) { first_errhandler(t.job, v[0]); }},
    {"-memory-alloc-kinds", "KINDS", "SP", "Kinds of memory that the program wants to use: system and mpi.",
     [](Target, Values v) { memory_kinds(v[0]); }},
    {"--drop-in", "", "",
     "Put Tutti in the place of MPICH for a program that was built with MPICH, Intel MPI, MVAPICH or Cray MPICH.",
     [](Target t, Values) { t.job.drop_in = true; }},
    {"--preload-arena", "WHEN", "",
     "Load the allocation functions that put large blocks into memory shared by the ranks in front of the program's "
     "libraries: yes, no, or auto: for interpreters, scripts and programs that are not linked with MPI themselves.",
     [](Target t, Values v) { t.job.preload_arena = yes_no_auto("--preload-arena", v[0]); }},
    {"--coll", "COLLECTIVE=ALGORITHM[:PARAMETER=VALUE,…]", "",
     "Use this algorithm wherever it can do the call: --coll allreduce=xhc:hierarchy=numa+socket,chunk=16K; where it "
     "cannot, a sentence says why and what runs instead. May be given several times; the same as TUTTI_COLL. "
     "tutti-info --algorithms lists what there is.",
     [](Target t, Values v) { request_algorithms(t.job.environment, v[0]); }},
};

constexpr Option of_environment[] = {
    {"-env", "NAME VALUE", "H", "Set a variable for this program.",
     [](Target t, Values v) { t.program.environment.set.emplace_back(v[0], v[1]); }},
    {"-genv", "NAME VALUE", "H", "Set a variable for all programs.",
     [](Target t, Values v) { t.job.environment.set.emplace_back(v[0], v[1]); }},
    {"-x", "NAME[=VALUE]", "OP",
     "Pass a variable on, or set it, for this program; A,B passes two on, \"P*\" all that begin with P.",
     [](Target t, Values v) { pass_variables(t.program.environment, v[0]); }},
    {"-envall -genvall", "", "H", "Pass the whole environment on (so it is when nothing is said).",
     [](Target t, Values) { t.job.environment.inherit = Inherit::all; }},
    {"-envnone", "", "H", "Pass nothing on to this program but what is set by options.",
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
     "mca_base_env_list is -x; of others it is said that they have no effect.",
     [](Target t, Values v) { open_mpi_parameter(t.job, v[0], v[1]); }},
};

constexpr Option of_debuggers[] = {
    {"-gdb --gdb", "", "",
     "Start each rank under gdb in a window of its own, by xterm. Without windows, mpiexec -n 4 gdb -batch -ex run -ex "
     "bt --args ./a.out shows where a rank crashes.",
     [](Target t, Values) { t.job.debugger = true; }},
    {"--xterm", "RANKS", "OP",
     "Start these ranks, such as 0,2-3, in windows of their own, or -1 for all; with a ! at the end, windows stay when "
     "the rank has ended. With -gdb, only these ranks are under gdb.",
     [](Target t, Values v) { windows_for(t.job, v[0]); }},
};

constexpr Option of_ends[] = {
    {"-timeout", "SECONDS", "OP",
     "End the job after SECONDS with exit code 124, and say what each rank was waiting for; 0: never. The variable "
     "MPIEXEC_TIMEOUT does the same.",
     [](Target t, Values v) { t.job.timeout = seconds("-timeout", v[0], 0); }},
    {"--on-deadlock", "end|wait", "",
     "When ranks wait for each other, and nothing can release them any more, or their collectives do not match, say "
     "which and where, and end the job with exit code 125 (end, so it is when nothing is said), or leave it as it is "
     "for a debugger (wait). The variable TUTTI_DIAGNOSIS=no keeps mpiexec from looking. Ranks that poll while nothing "
     "moves are reported after 30 seconds (TUTTI_POLLING_LIMIT), and the job goes on.",
     [](Target t, Values v) { t.job.stand_on_deadlock = one_of("--on-deadlock", v[0], "wait", "end"); }},
    {"--check", "", "",
     "Look for more mistakes, which costs time: sends that wait for their receives, as MPI allows, buffers that are "
     "touched while they are not the program's, messages and threads that may meet in another order, and more "
     "(guides/checking.md). The same as TUTTI_DIAGNOSIS=full.",
     [](Target t, Values) { t.job.environment.set.emplace_back("TUTTI_DIAGNOSIS", "full"); }},
    {"-disable-auto-cleanup -dac --enable-recovery --continuous", "", "HOP",
     "Let the other ranks go on when one fails or leaves early: they are on their own with it, and never return if "
     "they wait for that one. MPI_Abort ends the job all the same. The exit code is that of the first that failed.",
     [](Target t, Values) { t.job.keep_going = true; }},
    {"-enable-auto-cleanup --disable-recovery", "", "HOP",
     "End the job when a rank fails (so it is when nothing is said).",
     [](Target t, Values) { t.job.keep_going = false; }},
    {"--runtime-options", "LIST", "P",
     "Open MPI 5's list of directives: donotlaunch, recoverable, continuous, timeout=SECONDS, fwd-environment and "
     "others.",
     [](Target t, Values v) { apply_directives(t, directives_of("--runtime-options"), v[0]); }},
    {"--forward-signals", "SIGNALS", "P",
     "Pass these signals on to the ranks; only those that are passed on in any case are accepted.",
     [](Target, Values v) { forward_signals(v[0]); }},
    {"-print-all-exitcodes", "", "H", "Say of each rank with which exit code or signal it ended.",
     [](Target t, Values) { t.job.exit_codes = true; }},
    {"--messages", "text|json", "", "How such a mistake is told: for people (text), or as one line of JSON for tools.",
     [](Target t, Values v) { t.job.json_messages = one_of("--messages", v[0], "json", "text"); }},
    {"--explain", "CODE", "",
     "Print the page about a code such as T01: the mistake, a wrong program, a right one, and why MPI is like that; "
     "list: all codes.",
     [](Target t, Values v) { t.job.explain = v[0]; }},
    {"-h --help -?", "[TOPIC]", "HOP",
     "Print this text, or about a topic: compatibility shows what the options of MPICH and Open MPI do here, and an "
     "option's name that option.",
     [](Target t, Values v) {
         t.job.show_help = true;
         if (!v.empty()) t.job.help_topic = v[0];
     }},
    {"-V --version -info", "", "HOP", "Print the version.", [](Target t, Values) { t.job.show_version = true; }},
};

}   // namespace

std::span<Option const> programs() { return of_programs; }
std::span<Option const> environment() { return of_environment; }
std::span<Option const> debuggers() { return of_debuggers; }
std::span<Option const> ends() { return of_ends; }

}   // namespace tutti::launcher::groups
