// SPDX-License-Identifier: BSD-3-Clause
// Every option of mpiexec with its names, its sentence and its effect. The table is our own because both worlds have
// long options with one dash (-genv, -bind-to), which CLI11 and getopt do not take; one table serves parser and help.
#include <algorithm>
#include <cstdlib>

#include "launcher/allocation/hosts.hpp"
#include "launcher/allocation/rank_file.hpp"
#include "launcher/options/options.hpp"
#include "launcher/options/values.hpp"
#include "launcher/start/agent.hpp"
#include "runtime/base/error.hpp"
#include "runtime/settings/setting_text.hpp"
#include "topo/base/words.hpp"

namespace tutti::launcher {
namespace {

using Values = std::span<std::string const>;

InputTo input_to(std::string const& text) {
    if (text == "all") return {InputTo::Kind::all, 0};
    if (text == "none") return {InputTo::Kind::none, 0};
    return {InputTo::Kind::one, number("the rank of -stdin (or all, or none)", text, 0)};
}

void pass_variable(EnvironmentRules& rules, std::string const& text) {
    std::size_t equals = text.find('=');
    if (equals != std::string::npos) rules.set.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    else if (char const* value = std::getenv(text.c_str())) rules.set.emplace_back(text, value);
    else throw Complaint(join("-x ", text, ": there is no such variable in the environment of mpiexec"));
}

void only_network(Job& job, std::string const& name) {
    job.interface = name;
    job.environment.set.emplace_back("TUTTI_NETWORK", name);
}

/// Rounded up to whole seconds, as the variable has them.
void seconds_as_variable(Job& job, std::string_view option, char const* variable, std::string const& text) {
    auto const whole = std::chrono::ceil<std::chrono::seconds>(seconds(option, text, 0.1, 86'400));
    job.environment.set.emplace_back(variable, std::to_string(whole.count()));
}

/// Open MPI's parameters: those that have something like them here.
void open_mpi_parameter(Job& job, std::string const& name, std::string const& value) {
    if (name == "plm_rsh_agent" || name == "plm_ssh_agent") job.agent = value;
    else if (name == "btl_tcp_if_include") only_network(job, value);
    else job.notes.push_back(join("Open MPI's parameter ", shown(name), " has no effect; tutti-info lists our own"));
}

/// Hydra's launchers, as far as there is such a thing here.
void launcher_named(Job& job, std::string const& name) {
    if (name == "ssh") job.agent = ssh_agent;
    else if (name == "rsh") job.agent = "rsh";
    else if (name == "fork") job.only_here = true;
    else if (name == "slurm") job.agent = agent_of_slurm;
    else
        throw Complaint(join("-launcher must be ssh, rsh, slurm or fork, not '", shown(name),
                             "'; --launcher-agent takes any command that starts another on a host"));
}

void manager_named(Job& job, std::string const& name) {
    for (std::string_view known : {"user", "slurm", "pbs", "lsf", "sge", "cobalt", "oar"})
        if (name == known) return void(job.resource_manager = name);
    throw Complaint(join("-rmk must be user, slurm, pbs, lsf, sge, cobalt or oar, not '", shown(name), "'"));
}

// Within a node ranks are numbered as they are dealt out, so the way of dealing is what else could be meant.
void rank_by(Job& job, std::string const& unit) {
    if (unit == "slot" || unit == "core" || unit == "hwthread") return void(job.rank_by_node = false);
    if (unit == "node") return void(job.rank_by_node = true);
    throw Complaint(join("--rank-by must be slot or node, not '", shown(unit), "'; ranks are numbered as --map-by ",
                         "deals them out, so --map-by socket gives neighbours to different sockets"));
}

HostOrder order_named(std::string const& name) {
    std::string const word = topo::lower(name);
    if (word == "ascending") return HostOrder::ascending;
    if (word == "descending") return HostOrder::descending;
    throw Complaint(join("-order-nodes must be ASCENDING or DESCENDING, not '", shown(name), "'"));
}

void windows_for(Job& job, std::string ranks) {
    if (ranks.ends_with('!')) job.keep_windows = true, ranks.pop_back();
    job.windows = ranks == "-1" || ranks == "all" ? std::vector<int>{-1} : number_list("--xterm", ranks);
}

void only_hwloc(std::string const& name) {
    if (name != "hwloc") throw Complaint(join("-topolib must be hwloc, not '", shown(name), "'"));
}

/// Goes behind what TUTTI_COLL says already: of two wishes for a collective the last one holds.
void wish_algorithms(EnvironmentRules& rules, std::string const& text) {
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

template <class T>
T checked(topo::Result<T> const& result) {
    if (!result) throw Complaint(result.error().substr(0, result.error().find_last_not_of('.') + 1));
    return *result;
}

void output_folder(Job& job, std::string folder) {
    folder = folder.substr(0, folder.find(':'));   // Open MPI's :nojobid and :nocopy are how it is done anyway
    job.out_pattern = folder + "/rank.%r/stdout";
    job.err_pattern = folder + "/rank.%r/stderr";
}

void per_unit(Job& job, std::string const& count, char const* unit) {
    job.map = checked(topo::parse_map_by(join("ppr:", count, ":", unit)));
}

using Inherit = EnvironmentRules::Inherit;

constexpr Option programs[] = {
    {"-n -np -c", "N", "Start N ranks of the program (1 when nothing is said). More ranks than cores are fine.",
     [](Target t, Values v) { t.program.ranks = number("-n", v[0], 1); }},
    {":", "", "Ends one program and begins the next: mpiexec -n 1 ./boss : -n 3 ./worker. All ranks share one world.",
     nullptr},
    {"--app -configfile", "FILE", "Read options and programs from FILE, one program per line; # begins a comment.",
     nullptr},
    {"-wdir -wd", "FOLDER", "Start the program in FOLDER.", [](Target t, Values v) { t.program.directory = v[0]; }},
    {"--drop-in", "",
     "Put Tutti in the place of MPICH for a program that was built with MPICH, Intel MPI, MVAPICH or Cray MPICH.",
     [](Target t, Values) { t.job.drop_in = true; }},
    {"--preload-arena", "WHEN",
     "Load the allocation functions that put large blocks into memory shared by the ranks in front of the program's "
     "libraries: yes, no, or auto: for interpreters, scripts and programs that are not linked with MPI themselves.",
     [](Target t, Values v) { t.job.preload_arena = yes_no_auto("--preload-arena", v[0]); }},
    {"--coll", "COLLECTIVE=ALGORITHM[:PARAMETER=VALUE,…]",
     "Use this algorithm wherever it can do the call: --coll allreduce=xhc:hierarchy=numa+socket,chunk=16K; where it "
     "cannot, a sentence says why and what runs instead. May be given several times; the same as TUTTI_COLL. "
     "tutti-info --algorithms lists what there is.",
     [](Target t, Values v) { wish_algorithms(t.job.environment, v[0]); }},
};

constexpr Option places[] = {
    {"--bind-to", "WHERE",
     "Bind each rank: none, auto, hwthread, core, l2, l3, numa, socket, node, or user:0,1,… "
     "Auto binds to cores inside a batch job of whose cores the ranks take more than half, each one of its "
     "own; to their NUMA nodes where there are several and as many ranks as cores or hardware threads; and leaves "
     "ranks "
     "free otherwise.",
     [](Target t, Values v) { t.job.bind = checked(topo::parse_bind_to(v[0])); }},
    {"--map-by", "WHAT",
     "Deal the ranks out over slot, hwthread, core, l2, l3, numa, socket, node, or ppr:N:UNIT; PE=N after "
     "a colon gives each rank N cores.",
     [](Target t, Values v) { t.job.map = checked(topo::parse_map_by(v[0])); }},
    {"--cpu-set --cpu-list", "LIST",
     "Use only these processing units of each node, numbered as the system does (taskset, --report-bindings): 0,2-5.",
     [](Target t, Values v) { t.job.cpus = number_list("--cpu-set", v[0]); }},
    {"--rankfile -rf", "FILE",
     "Put each rank where FILE says: rank 0=node1 slot=0-2 binds rank 0 to the first three cores of node1; slot=1:0-2 "
     "counts cores in socket 1, slot=p4 is processing unit 4, +n0 in the place of a name the first of the hosts.",
     [](Target t, Values v) { t.job.rank_file = v[0]; }},
    {"--rank-by", "WHAT",
     "Number ranks by slot (one node's, then the next one's; so it is when nothing is said) or by node (across nodes).",
     [](Target t, Values v) { rank_by(t.job, v[0]); }},
    {"--report-bindings", "", "Say on standard error where each rank is bound.",
     [](Target t, Values) { t.job.report_bindings = true; }},
    {"--display-map --display-devel-map", "", "Say on standard error which ranks each node gets.",
     [](Target t, Values) { t.job.show_map = true; }},
    {"--display-allocation", "", "Say on standard error which nodes there are for the job, and their slots.",
     [](Target t, Values) { t.job.show_allocation = true; }},
    {"--show-hierarchy --display-topo", "",
     "Draw each node, the ranks on it and the teams they form, and say from which NUMA nodes their memory comes; a "
     "program is not needed.",
     [](Target t, Values) { t.job.show_hierarchy = true; }},
    {"-ppn -N -npernode -perhost", "N", "So many ranks per node; without -n, the number of ranks.",
     [](Target t, Values v) { t.job.per_node = number("-ppn", v[0], 1); }},
    {"-pernode", "", "One rank per node: the same as -ppn 1.", [](Target t, Values) { t.job.per_node = 1; }},
    {"-cpus-per-rank -cpus-per-proc", "N", "So many cores for each rank: the same as PE=N with --map-by.",
     [](Target t, Values v) { t.job.map.cores = number("-cpus-per-rank", v[0], 1); }},
    {"--bynode", "", "Deal the ranks out over nodes: the same as --map-by node.",
     [](Target t, Values) { t.job.map = checked(topo::parse_map_by("node")); }},
    {"--bycore", "", "The same as --map-by core.",
     [](Target t, Values) { t.job.map = checked(topo::parse_map_by("core")); }},
    {"--nooversubscribe", "", "Refuse to start more ranks than hosts have slots, or a node has usable cores.",
     [](Target t, Values) { t.job.no_oversubscribe = true; }},
    {"-npersocket", "N", "The same as -map-by ppr:N:socket.",
     [](Target t, Values v) { per_unit(t.job, v[0], "socket"); }},
    {"-hosts -host -H", "NAMES",
     "The nodes, separated by commas, each with :SLOTS if wanted (one when nothing is said). Ranks fill the slots of "
     "the first, then of the next, and begin again when there are more. Behind a ':' they are for that program alone.",
     [](Target t, Values v) { add_host_list(t.program.hosts, v[0]); }},
    {"-f -hostfile -machinefile", "FILE",
     "The same from a file, one node per line as NAME, NAME:SLOTS or NAME slots=SLOTS max-slots=MOST user=NAME; # "
     "begins a comment.",
     [](Target t, Values v) { add_host_file(t.program.hosts, v[0], t.job.notes); }},
    {"-order-nodes", "ORDER", "Sort the nodes by their slots, ASCENDING or DESCENDING, before ranks are dealt out.",
     [](Target t, Values v) { t.job.order = order_named(v[0]); }},
    {"--nolocal -skip-launch-node", "", "Start no rank on this node, even if it is among the hosts.",
     [](Target t, Values) { t.job.never_here = true; }},
    {"-localonly", "", "Start all ranks on this node, whatever hosts are named.",
     [](Target t, Values) { t.job.only_here = true; }},
};

constexpr Option nodes[] = {
    {"--launcher-agent -launcher-exec -bootstrap-exec -rsh", "COMMAND",
     "What starts a daemon on another node, called as COMMAND HOST DAEMON; it may have arguments. When nothing is "
     "said, srun on the nodes of a Slurm job, elsewhere ssh, in a way that never asks for a password.",
     [](Target t, Values v) { t.job.agent = v[0]; }},
    {"-launcher -bootstrap", "NAME", "The same by a name: ssh, rsh, slurm (its srun), or fork (no other node).",
     [](Target t, Values v) { launcher_named(t.job, v[0]); }},
    {"-rmk", "NAME",
     "Take the nodes from this resource manager: slurm, pbs, lsf, sge, cobalt or oar; user: from none. When nothing is "
     "said, from the one in whose job mpiexec runs.",
     [](Target t, Values v) { manager_named(t.job, v[0]); }},
    {"-iface", "NAME",
     "Between nodes use only this interface, such as eth0, or network, such as 10.0.0.0/8: the same as TUTTI_NETWORK.",
     [](Target t, Values v) { only_network(t.job, v[0]); }},
    {"--prefix", "FOLDER", "Where Tutti is installed on the other nodes: --daemon FOLDER/bin/tutti-daemon.",
     [](Target t, Values v) { t.job.daemon = v[0] + "/bin/tutti-daemon"; }},
    {"--daemon", "FILE", "The file of tutti-daemon on the other nodes, when it is not where it is here.",
     [](Target t, Values v) { t.job.daemon = v[0]; }},
    {"--start-timeout", "SECONDS",
     "Give up when a node has not answered within SECONDS (default: 120): the same as TUTTI_START_TIMEOUT.",
     [](Target t, Values v) { seconds_as_variable(t.job, "--start-timeout", "TUTTI_START_TIMEOUT", v[0]); }},
    {"--silence", "SECONDS",
     "End the job when nothing has come from a node for SECONDS (default: 60), though its connection stands: the same "
     "as TUTTI_SILENCE.",
     [](Target t, Values v) { seconds_as_variable(t.job, "--silence", "TUTTI_SILENCE", v[0]); }},
};

constexpr Option environment[] = {
    {"-env", "NAME VALUE", "Set a variable for this program.",
     [](Target t, Values v) { t.program.environment.set.emplace_back(v[0], v[1]); }},
    {"-genv", "NAME VALUE", "Set a variable for all programs.",
     [](Target t, Values v) { t.job.environment.set.emplace_back(v[0], v[1]); }},
    {"-x", "NAME[=VALUE]", "Pass a variable on, or set it, for this program.",
     [](Target t, Values v) { pass_variable(t.program.environment, v[0]); }},
    {"-envall -genvall", "", "Pass the whole environment on (so it is when nothing is said).",
     [](Target t, Values) { t.job.environment.inherit = Inherit::all; }},
    {"-envnone", "", "Pass nothing on to this program but what is set by options.",
     [](Target t, Values) { t.program.environment.inherit = Inherit::none; }},
    {"-genvnone", "", "The same for all programs.",
     [](Target t, Values) { t.job.environment.inherit = Inherit::none; }},
    {"-envlist", "NAMES", "Pass only these variables on to this program, separated by commas.",
     [](Target t, Values v) {
         t.program.environment.inherit = Inherit::listed;
         t.program.environment.list = split_list(v[0]);
     }},
    {"-genvlist", "NAMES", "The same for all programs.",
     [](Target t, Values v) {
         t.job.environment.inherit = Inherit::listed;
         t.job.environment.list = split_list(v[0]);
     }},
};

constexpr Option streams[] = {
    {"-l -prepend-rank --tag-output", "", "Begin each line with its rank in brackets.",
     [](Target t, Values) { t.job.prefix = "[%r] "; }},
    {"-prepend-pattern", "TEXT",
     "Begin each line with TEXT; %r in it is the rank, %h the host, %t the seconds since 1970, %% a per cent sign.",
     [](Target t, Values v) { t.job.prefix = v[0]; }},
    {"--timestamp-output", "", "Begin each line with the date and time at which it came.",
     [](Target t, Values) { t.job.timestamps = true; }},
    {"-stdin -s", "RANK", "Who reads the standard input of mpiexec: a rank (0 when nothing is said), all, or none.",
     [](Target t, Values v) { t.job.input = input_to(v[0]); }},
    {"-outfile-pattern", "NAME",
     "Write the standard output of ranks to files, each on the node of its rank; %r is the rank, %h the host, %t the "
     "seconds since 1970, %% a per cent sign.",
     [](Target t, Values v) { t.job.out_pattern = v[0]; }},
    {"-errfile-pattern", "NAME", "The same for standard error.", [](Target t, Values v) { t.job.err_pattern = v[0]; }},
    {"--output-filename", "FOLDER", "Write both to FOLDER/rank.R/stdout and FOLDER/rank.R/stderr.",
     [](Target t, Values v) { output_folder(t.job, v[0]); }},
    {"--merge-stderr-to-stdout", "", "Send the ranks' standard error where their standard output goes.",
     [](Target t, Values) { t.job.merge_errors = true; }},
    {"--strict", "",
     "Do not start with a setting that is unknown or has no valid value (TUTTI_ variables, a tuning file, --coll), for "
     "scripts that measure; the same as TUTTI_STRICT=yes.",
     [](Target t, Values) { t.job.environment.set.emplace_back("TUTTI_STRICT", "yes"); }},
    {"-q --quiet", "", "Print no warning and not why the job ended.", [](Target t, Values) { t.job.quiet = true; }},
    {"--stats", "",
     "At the end, tables on standard error: bytes that each rank got at in its peers' memory by each way; bytes, "
     "messages and waits of each rank, and how it waited; on which NUMA nodes its memory lies; and calls, bytes and "
     "time of each collective, by communicator and algorithm, and of each call about a window.",
     [](Target t, Values) {
         t.job.statistics = true;
         t.job.environment.set.emplace_back("TUTTI_STATS", "yes");
     }},
    {"--report", "FILE",
     "Record what the ranks do, and write it at the end, however the job ends, as a page for any browser: timelines, "
     "messages, collectives, where the time went, who waited for whom and why, and what went wrong.",
     [](Target t, Values v) { t.job.report_file = v[0]; }},
    {"--trace", "FILE",
     "The same events as a file for https://ui.perfetto.dev (Trace Event format), or, where the name ends in .otf2, as "
     "an OTF2 archive. Both are refused before the start where the file cannot be written.",
     [](Target t, Values v) { t.job.trace_file = v[0]; }},
    {"--report-events", "N",
     "Record the last N events of each rank (262144 when nothing is said); an event takes 48 bytes of shared memory.",
     [](Target t, Values v) { t.job.traced_events = static_cast<std::uint64_t>(number("--report-events", v[0], 16)); }},
    {"-v --verbose", "", "Say what is started where, and how each rank ended.",
     [](Target t, Values) { t.job.verbose = true; }},
};

constexpr Option debuggers[] = {
    {"-gdb --gdb", "",
     "Start each rank under gdb in a window of its own, by xterm. Without windows, mpiexec -n 4 gdb -batch -ex run -ex "
     "bt --args ./a.out shows where a rank crashes.",
     [](Target t, Values) { t.job.debugger = true; }},
    {"--xterm", "RANKS",
     "Start these ranks, such as 0,2-3, in windows of their own, or -1 for all; with a ! at the end, windows stay when "
     "the rank has ended. With -gdb, only these ranks are under gdb.",
     [](Target t, Values v) { windows_for(t.job, v[0]); }},
};

constexpr Option ends[] = {
    {"-timeout", "SECONDS",
     "End the job after SECONDS with exit code 124, and say what each rank was waiting for; 0: never. The variable "
     "MPIEXEC_TIMEOUT does the same.",
     [](Target t, Values v) { t.job.timeout = seconds("-timeout", v[0], 0); }},
    {"--on-deadlock", "end|wait",
     "When ranks wait for each other, and nothing can release them any more, or their collectives do not match, say "
     "which and where, and end the job with exit code 125 (end, so it is when nothing is said), or leave it as it is "
     "for a debugger (wait). The variable TUTTI_DIAGNOSIS=no keeps mpiexec from looking. Ranks that poll while nothing "
     "moves are reported after 30 seconds (TUTTI_POLLING_LIMIT), and the job goes on.",
     [](Target t, Values v) { t.job.stand_on_deadlock = one_of("--on-deadlock", v[0], "wait", "end"); }},
    {"--check", "",
     "Look for more mistakes, which costs time: sends that wait for their receives, as MPI allows, buffers that are "
     "touched while they are not the program's, messages and threads that may meet in another order, and more "
     "(guides/checking.md). The same as TUTTI_DIAGNOSIS=full.",
     [](Target t, Values) { t.job.environment.set.emplace_back("TUTTI_DIAGNOSIS", "full"); }},
    {"-disable-auto-cleanup --enable-recovery --continuous", "",
     "Let the other ranks go on when one fails or leaves early: they are on their own with it, and wait for ever if "
     "they wait for that one. MPI_Abort ends the job all the same. The exit code is that of the first that failed.",
     [](Target t, Values) { t.job.keep_going = true; }},
    {"-enable-auto-cleanup --disable-recovery", "", "End the job when a rank fails (so it is when nothing is said).",
     [](Target t, Values) { t.job.keep_going = false; }},
    {"-print-all-exitcodes", "", "Say of each rank with which exit code or signal it ended.",
     [](Target t, Values) { t.job.exit_codes = true; }},
    {"--messages", "text|json", "How such a mistake is told: for people (text), or as one line of JSON for tools.",
     [](Target t, Values v) { t.job.json_messages = one_of("--messages", v[0], "json", "text"); }},
    {"--explain", "CODE",
     "Print the page about a code such as T01: the mistake, a wrong program, a right one, and why MPI is like that; "
     "list: all codes.",
     [](Target t, Values v) { t.job.explain = v[0]; }},
    {"-h --help -?", "", "Print this text.", [](Target t, Values) { t.job.show_help = true; }},
    {"-V --version -info", "", "Print the version.", [](Target t, Values) { t.job.show_version = true; }},
};

constexpr void (*nothing)(Target, Values) = [](Target, Values) {};

constexpr Option not_needed[] = {
    {"--oversubscribe --allow-run-as-root --use-hwthread-cpus -disable-hostname-propagation --byslot --hetero-nodes "
     "--noprefix",
     "", "It is so without being said: ranks may outnumber cores, root may run them, hardware threads count.", nothing},
    {"-topolib", "NAME", "hwloc, which reads the machine in any case.", [](Target, Values v) { only_hwloc(v[0]); }},
    {"--mca --gmca --prtemca --pmixmca", "NAME VALUE",
     "Open MPI's parameters: plm_rsh_agent and plm_ssh_agent are --launcher-agent, btl_tcp_if_include is -iface; of "
     "others it is said that they have no effect.",
     [](Target t, Values v) { open_mpi_parameter(t.job, v[0], v[1]); }},
    {"-usize", "N", "Processes cannot be started by MPI here, so the universe is MPI_COMM_WORLD.", nullptr,
     Effect::none},
    {"--report-uri", "WHERE", "There is no server that another program could call.", nullptr, Effect::none},
};

constexpr Option other_ways[] = {
    {"--get-stack-traces", "",
     "With -timeout each rank's last MPI call is told; gdb -p PROCESS shows a stack, and -v names the processes.",
     nullptr, Effect::refused},
    {"--debug --debugger -tv", "", "-gdb starts each rank under a debugger.", nullptr, Effect::refused},
    {"-membind", "", "numactl --membind=0 ./a.out in the place of ./a.out binds memory.", nullptr, Effect::refused},
    {"--preload-binary --preload-files", "", "Files must be on the nodes before, by scp or a shared folder.", nullptr,
     Effect::refused},
    {"--xml", "", "-outfile-pattern and --output-filename keep the output of ranks apart.", nullptr, Effect::refused},
    {"--tune -am", "", "Settings are variables (TUTTI_…), which tutti-info lists; -genv sets one.", nullptr,
     Effect::refused},
    {"-gpus-per-proc", "", "A script can set CUDA_VISIBLE_DEVICES by MPI_LOCALRANKID.", nullptr, Effect::refused},
};

constexpr OptionGroup groups[] = {
    {"Programs", programs},
    {"Where ranks run", places},
    {"Several nodes", nodes},
    {"Environment of the ranks", environment},
    {"Input and output", streams},
    {"Debuggers", debuggers},
    {"End, and help", ends},
    {"For the sake of existing scripts", not_needed},
    {"Options of others that are refused, and what does the same", other_ways},
};

}   // namespace

std::span<OptionGroup const> option_groups() { return groups; }

}   // namespace tutti::launcher
