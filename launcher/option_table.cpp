// SPDX-License-Identifier: BSD-3-Clause
// Every option of mpiexec with its names, its sentence and its effect. The table is our own because both worlds have
// long options with one dash (-genv, -bind-to), which CLI11 and getopt do not take; one table serves parser and help.
#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "launcher/hosts.hpp"
#include "launcher/options.hpp"
#include "runtime/error.hpp"
#include "runtime/setting_text.hpp"

namespace tutti::launcher {
namespace {

using Values = std::span<std::string const>;

int number(std::string_view what, std::string const& text, int least) {
    int value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < least)
        throw Complaint(join(what, " must be a whole number of at least ", least, ", not '", text, "'"));
    return value;
}

std::chrono::milliseconds seconds(std::string_view what, std::string const& text) {
    char* end = nullptr;
    double value = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != 0 || !(value >= 0 && value < 1e9))
        throw Complaint(join(what, " must be a number of seconds, not '", text, "'"));
    return std::chrono::milliseconds(static_cast<long long>(value * 1000));
}

InputTo input_to(std::string const& text) {
    if (text == "all") return {InputTo::Kind::all, 0};
    if (text == "none") return {InputTo::Kind::none, 0};
    return {InputTo::Kind::one, number("the rank of -stdin (or all, or none)", text, 0)};
}

std::vector<std::string> split_list(std::string_view text) {
    std::vector<std::string> words;
    while (!text.empty()) {
        std::size_t comma = std::min(text.find(','), text.size());
        if (comma > 0) words.emplace_back(text.substr(0, comma));
        text.remove_prefix(std::min(comma + 1, text.size()));
    }
    return words;
}

std::optional<bool> yes_no_auto(std::string_view what, std::string const& text) {
    bool value = false;
    if (text == "auto") return {};
    if (parse_setting(text, value)) return value;
    throw Complaint(join(what, " must be yes, no or auto, not '", text, "'"));
}

void pass_variable(EnvironmentRules& rules, std::string const& text) {
    std::size_t equals = text.find('=');
    if (equals != std::string::npos) rules.set.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    else if (char const* value = std::getenv(text.c_str())) rules.set.emplace_back(text, value);
    else throw Complaint(join("-x ", text, ": there is no such variable in the environment of mpiexec"));
}

/// Goes behind what TUTTI_COLL says already: of two wishes for a collective the last one holds.
void wish_algorithms(EnvironmentRules& rules, std::string const& text) {
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
    {"-configfile", "FILE", "Read options and programs from FILE, one program per line; # begins a comment.",
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
     "Use this algorithm wherever it can do the call: --coll allreduce=xhc:hierarchy=numa+socket,chunk=16K. May be "
     "given several times; the same as TUTTI_COLL. tutti-info --algorithms lists what there is.",
     [](Target t, Values v) { wish_algorithms(t.job.environment, v[0]); }},
};

constexpr Option places[] = {
    {"--bind-to", "WHERE",
     "Bind each rank: none, auto, hwthread, core, l2, l3, numa, socket, node, or user:0,1,… "
     "Auto binds to cores inside a batch job of whose cores the ranks take more than half, each one of its "
     "own, and leaves ranks free otherwise.",
     [](Target t, Values v) { t.job.bind = checked(topo::parse_bind_to(v[0])); }},
    {"--map-by", "WHAT",
     "Deal the ranks out over slot, hwthread, core, l2, l3, numa, socket, node, or ppr:N:UNIT; PE=N after "
     "a colon gives each rank N cores.",
     [](Target t, Values v) { t.job.map = checked(topo::parse_map_by(v[0])); }},
    {"--report-bindings", "", "Say on standard error where each rank is bound.",
     [](Target t, Values) { t.job.report_bindings = true; }},
    {"--show-hierarchy", "", "Draw the machine, the ranks on it and the teams they form; a program is not needed.",
     [](Target t, Values) { t.job.show_hierarchy = true; }},
    {"-ppn -N -npernode -perhost", "N", "So many ranks per node; without -n, the number of ranks.",
     [](Target t, Values v) { t.job.per_node = number("-ppn", v[0], 1); }},
    {"-cpus-per-rank -cpus-per-proc", "N", "So many cores for each rank: the same as PE=N with --map-by.",
     [](Target t, Values v) { t.job.map.cores = number("-cpus-per-rank", v[0], 1); }},
    {"--bynode", "", "Deal the ranks out over nodes: the same as --map-by node.",
     [](Target t, Values) { t.job.map = checked(topo::parse_map_by("node")); }},
    {"--nooversubscribe", "",
     "Refuse to start more ranks than hosts have slots, or a node has usable cores.",
     [](Target t, Values) { t.job.no_oversubscribe = true; }},
    {"-npersocket", "N", "The same as -map-by ppr:N:socket.",
     [](Target t, Values v) { per_unit(t.job, v[0], "socket"); }},
    {"-hosts -host -H", "NAMES",
     "The nodes, separated by commas, each with :SLOTS if wanted (one when nothing is said). Ranks fill the slots of "
     "the first, then of the next, and begin again when there are more. Behind a ':' they are for that program alone.",
     [](Target t, Values v) { add_host_list(t.program.hosts, v[0]); }},
    {"-f -hostfile -machinefile", "FILE",
     "The same from a file, one node per line as NAME, NAME:SLOTS or NAME slots=SLOTS max-slots=MOST; # begins a "
     "comment.",
     [](Target t, Values v) { add_host_file(t.program.hosts, v[0]); }},
};

constexpr Option nodes[] = {
    {"--launcher-agent -launcher-exec -bootstrap-exec -rsh", "COMMAND",
     "What starts a daemon on another node, called as COMMAND HOST DAEMON; it may have arguments. When nothing is "
     "said, srun on the nodes of a Slurm job, elsewhere ssh, in a way that never asks for a password.",
     [](Target t, Values v) { t.job.agent = v[0]; }},
    {"--daemon", "FILE", "The file of tutti-daemon on the other nodes, when it is not where it is here.",
     [](Target t, Values v) { t.job.daemon = v[0]; }},
    {"--start-timeout", "SECONDS", "Give up when a node has not answered within SECONDS (30 when nothing is said).",
     [](Target t, Values v) { t.job.start_limit = seconds("--start-timeout", v[0]); }},
    {"--silence", "SECONDS",
     "End the job when a node has not been heard for SECONDS (1.5 when nothing is said); they tell each other five "
     "times a second that they are there.",
     [](Target t, Values v) { t.job.silence_limit = seconds("--silence", v[0]); }},
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
     [](Target t, Values) { t.job.prefix = true; }},
    {"-stdin -s", "RANK", "Who reads the standard input of mpiexec: a rank (0 when nothing is said), all, or none.",
     [](Target t, Values v) { t.job.input = input_to(v[0]); }},
    {"-outfile-pattern", "NAME",
     "Write the standard output of ranks to files, each on the node of its rank; %r is the rank, %h the host, %% a per "
     "cent sign.",
     [](Target t, Values v) { t.job.out_pattern = v[0]; }},
    {"-errfile-pattern", "NAME", "The same for standard error.",
     [](Target t, Values v) { t.job.err_pattern = v[0]; }},
    {"--output-filename", "FOLDER", "Write both to FOLDER/rank.R/stdout and FOLDER/rank.R/stderr.",
     [](Target t, Values v) { output_folder(t.job, v[0]); }},
    {"--merge-stderr-to-stdout", "", "Send the ranks' standard error where their standard output goes.",
     [](Target t, Values) { t.job.merge_errors = true; }},
    {"-q --quiet", "", "Print no warning and not why the job ended.", [](Target t, Values) { t.job.quiet = true; }},
    {"--stats", "",
     "At the end, tables on standard error: bytes that each rank got at in its peers' memory by each way; bytes, "
     "messages and waits of each rank; and calls, bytes and time of each collective, by communicator and algorithm.",
     [](Target t, Values) {
         t.job.statistics = true;
         t.job.environment.set.emplace_back("TUTTI_STATS", "yes");
     }},
    {"-v --verbose", "", "Say what is started where, and how each rank ended.",
     [](Target t, Values) { t.job.verbose = true; }},
};

constexpr Option ends[] = {
    {"-timeout", "SECONDS",
     "End the job after SECONDS with exit code 124, and say what each rank was waiting for. The variable "
     "MPIEXEC_TIMEOUT does the same.",
     [](Target t, Values v) { t.job.timeout = seconds("-timeout", v[0]); }},
    {"-h --help -?", "", "Print this text.", [](Target t, Values) { t.job.show_help = true; }},
    {"-V --version -info", "", "Print the version.", [](Target t, Values) { t.job.show_version = true; }},
};

constexpr void (*nothing)(Target, Values) = [](Target, Values) {};

constexpr Option not_needed[] = {
    {"--oversubscribe --allow-run-as-root --use-hwthread-cpus --nolocal --display-map --display-allocation "
     "--enable-recovery --do-not-launch-daemons -print-all-exitcodes -disable-hostname-propagation "
     "-enable-auto-cleanup -localonly --byslot --bycore --hetero-nodes",
     "", "Accepted and not needed: ranks may outnumber cores, root may run them, and there is nothing to switch.",
     nothing},
    {"-launcher -bootstrap -rmk -iface -usize -topolib --prefix --rank-by --report-uri", "VALUE",
     "Accepted without effect.", nothing},
    {"--mca --gmca --prtemca --pmixmca", "NAME VALUE",
     "Open MPI's parameters: plm_rsh_agent and plm_ssh_agent are --launcher-agent, others have no effect.",
     [](Target t, Values v) {
         if (v[0] == "plm_rsh_agent" || v[0] == "plm_ssh_agent") t.job.agent = v[1];
     }},
};

constexpr OptionGroup groups[] = {
    {"Programs", programs},
    {"Where ranks run", places},
    {"Several nodes", nodes},
    {"Environment of the ranks", environment},
    {"Input and output", streams},
    {"End, and help", ends},
    {"For the sake of existing scripts", not_needed},
};

}  // namespace

std::span<OptionGroup const> option_groups() { return groups; }

}  // namespace tutti::launcher
