// SPDX-License-Identifier: BSD-3-Clause
// Options for the placement of ranks: on one node, and over several nodes.
#include <algorithm>
#include <string>

#include "launcher/options/options.hpp"
#include "launcher/placement/allocation.hpp"
#include "launcher/start/commands.hpp"
#include "topo/nearest.hpp"
#include "topo/text.hpp"

// Lists of directives such as --output tag,timestamp: find each directive in its table and apply it.

namespace tutti::launcher {
namespace {

std::vector<std::string> names_of(Option const& directive) { return topo::split_words(directive.names, " "); }

LaunchError unknown_directive(DirectiveList const& list, std::string const& word,
                              std::vector<std::string> const& candidates) {
    std::string all;
    std::vector<std::string> names;
    for (Option const& directive : list.directives)
        for (std::string const& name : names_of(directive))
            if (candidates.empty() || std::ranges::find(candidates, name) != candidates.end())
                all += (all.empty() ? "" : ", ") + name, names.push_back(name);
    bool const is_unknown = candidates.empty();
    return LaunchError(join(list.option, ": '", printable(word),
                            is_unknown ? "' is unknown; the valid directives are " : "' is ambiguous; it may be ", all,
                            is_unknown ? topo::nearest_hint(topo::lower(word), names) : ""));
}

Option const& find_directive(DirectiveList const& list, std::string const& word) {
    std::string const wanted = topo::lower(word);
    Option const* found = nullptr;
    std::vector<std::string> candidates;
    for (Option const& directive : list.directives)
        for (std::string const& name : names_of(directive)) {
            if (name == wanted) return directive;
            if (wanted.empty() || !name.starts_with(wanted)) continue;
            if (found != &directive) candidates.push_back(name);
            found = &directive;
        }
    if (candidates.size() != 1) throw unknown_directive(list, word, candidates);
    return *found;
}

void apply_directive(Target target, DirectiveList const& list, std::string const& text) {
    std::size_t const equals = text.find('=');
    std::string const word = text.substr(0, equals);
    Option const& directive = find_directive(list, word);
    std::string const name = join(list.option, " ", word);
    if (directive.effect == Effect::refused)
        throw LaunchError(join(name, " is not possible here: ", description_clause(directive)));
    std::vector<std::string> values;
    if (equals != std::string::npos) values.push_back(text.substr(equals + 1));
    if (directive.argument.empty() && !values.empty()) throw LaunchError(join(name, " takes no value"));
    bool const optional = directive.argument.empty() || directive.argument.starts_with('[');
    if (!optional && (values.empty() || values[0].empty()))
        throw LaunchError(join(name, " needs =", directive.argument));
    if (directive.apply) directive.apply(target, values);
    else target.job.verbose_notes.push_back(join(name, " has no effect: ", description_clause(directive)));
}

}   // namespace

std::span<DirectiveList const> directive_lists() {
    static DirectiveList const lists[] = {{"--output", ",:", groups::output_directives()},
                                          {"--display", ",:", groups::display_directives()},
                                          {"--runtime-options", ",", groups::runtime_directives()},
                                          {"--map-by", "", groups::map_qualifiers()},
                                          {"--bind-to", "", groups::bind_qualifiers()}};
    return lists;
}

DirectiveList const& directives_of(std::string_view option) {
    return *std::ranges::find(directive_lists(), option, &DirectiveList::option);
}

void apply_directives(Target target, DirectiveList const& list, std::string_view text) {
    for (std::string const& word : topo::split_words(text, list.separators)) apply_directive(target, list, word);
}

}   // namespace tutti::launcher

namespace tutti::launcher::groups {
namespace {

void restrict_network(Job& job, std::string const& name) {
    job.interface = name;
    job.environment.set.emplace_back("TUTTI_NETWORK", name);
}

/// Sets the variable, in seconds, rounded up to a whole number as the variable requires.
void set_seconds_variable(Job& job, std::string_view option, char const* variable, std::string const& text) {
    auto const whole = std::chrono::ceil<std::chrono::seconds>(parse_seconds(option, text, 0.1, 86'400));
    job.environment.set.emplace_back(variable, std::to_string(whole.count()));
}

/// Applies the launchers of Hydra that have an equivalent here.
void choose_launcher(Job& job, std::string const& name) {
    if (char const* const agent = agent_named(name)) job.agent = agent;
    else if (name == "fork") job.local_only = true;
    else
        throw LaunchError(join("-launcher must be ssh, rsh, slurm, flux, lsf, sge or fork, not '", printable(name),
                               "'; --launcher-agent accepts any command that starts another one on a host"));
}

void forward_x11(Job& job) {
    std::string const agent = job.agent.empty() ? ssh_agent : job.agent;
    if (agent != ssh_agent)
        throw LaunchError(
            "-enable-x requires the default agent, ssh; add -X to the command of --launcher-agent instead");
    job.agent = join("ssh -X", agent.substr(std::string_view("ssh -x").size()));
}

void choose_resource_manager(Job& job, std::string const& name) {
    for (std::string_view known : {"user", "slurm", "flux", "pbs", "lsf", "sge", "cobalt", "oar"})
        if (name == known) return void(job.resource_manager = name);
    throw LaunchError(
        join("-rmk must be user, slurm, flux, pbs, lsf, sge, cobalt or oar, not '", printable(name), "'"));
}

/// Within a node, ranks are numbered in the order of --map-by, so the message suggests --map-by.
void rank_by(Job& job, std::string const& unit) {
    std::string const word = topo::lower(unit);
    if (word == "slot" || word == "core" || word == "hwthread") return void(job.rank_by_node = false);
    if (word == "node") return void(job.rank_by_node = true);
    throw LaunchError(join("--rank-by must be slot or node, not '", printable(unit),
                           "'; within a node, ranks are numbered in the order of --map-by, ",
                           "so --map-by socket places adjacent ranks on different sockets"));
}

HostOrder parse_host_order(std::string const& name) {
    std::string const word = topo::lower(name);
    if (word == "ascending") return HostOrder::ascending;
    if (word == "descending") return HostOrder::descending;
    throw LaunchError(join("-order-nodes must be ascending or descending, not '", printable(name), "'"));
}

void map_per_unit(Job& job, std::string const& count, char const* unit) {
    job.map = value_or_throw(topo::parse_map_by(join("ppr:", count, ":", unit)));
}

void map_ppr(Target t, std::string const& resources) {
    if (resources.find(',') != std::string::npos)
        throw LaunchError("--ppr takes one kind of resource, such as 2:socket");
    map_by(t, "ppr:" + resources);
}

constexpr Option placement_options[] = {
    {"--bind-to -binding", topo::bind_to_values, "HOP",
     "Bind each rank to such a unit, or to the processing units in LIST (user:0,1,…). auto binds each rank to a core "
     "of "
     "its own in a batch job whose ranks need more than half of the cores; otherwise to its NUMA node if there "
     "are several NUMA nodes and as many ranks as cores or hardware threads; otherwise not at all. Open MPI's "
     "qualifiers after a colon are accepted, and cpu-list with --cpu-set.",
     [](Target t, Values v) { bind_to(t, v[0]); }, Effect::applied, "Bind each rank to a core, NUMA node, socket, …"},
    {"--map-by", topo::map_by_values, "HOP",
     "Distribute the ranks over such units; ppr:N:UNIT: N ranks on each unit. Also seq (one rank per named host), "
     "rankfile:FILE=NAME or pe-list=0,2-3; PE=N after a colon gives each rank N cores. OVERSUBSCRIBE, "
     "NOOVERSUBSCRIBE, NOLOCAL and Open MPI's other qualifiers may follow, also without a unit: --map-by "
     ":OVERSUBSCRIBE.",
     [](Target t, Values v) { map_by(t, v[0]); }},
    {"--cpu-set --cpu-list", "LIST", "OP",
     "Use only these processing units of each node, with the numbers of the operating system (taskset, "
     "--report-bindings): 0,2-5.",
     [](Target t, Values v) { t.job.cpus = parse_number_list("--cpu-set", v[0]); }},
    {"--rankfile -rf", "FILE", "OP",
     "Place each rank as FILE specifies: rank 0=node1 slot=0-2 binds rank 0 to the first three cores of node1; "
     "slot=1:0-2 counts cores in socket 1, slot=p4 is processing unit 4, and +n0 instead of a name is the first host.",
     [](Target t, Values v) { t.job.rank_file = v[0]; }},
    {"-rankmap", "LIST", "H",
     "Place each rank on the host with this number, counted from 0 in the order of -hosts: 0,0,1,1, or in blocks of "
     "(first host, hosts, ranks on each): (0,2,2).",
     [](Target t, Values v) { t.job.rank_map = v[0]; }},
    {"--rank-by", "slot|node", "OP",
     "Number ranks by slot (those of one node, then those of the next; the default) or by node (across nodes).",
     [](Target t, Values v) { rank_by(t.job, v[0]); }},
    {"--report-bindings", "", "OP", "Print on standard error where each rank is bound.",
     [](Target t, Values) { t.job.report_bindings = true; }},
    {"--display-map --display-devel-map --display-diffable-map -print-rank-map", "", "OP",
     "Print on standard error which ranks run on each node.", [](Target t, Values) { t.job.show_map = true; }},
    {"--display-allocation --display-devel-allocation", "", "OP",
     "Print on standard error the nodes of the job and their slots.",
     [](Target t, Values) { t.job.show_allocation = true; }},
    {"--show-hierarchy --display-topo", "", "OP",
     "Draw each node with its ranks and their teams, and print the NUMA nodes of the ranks' memory; no program is "
     "needed.",
     [](Target t, Values) { t.job.show_hierarchy = true; }, Effect::applied, "Show where the ranks would run"},
    {"--display", "LIST", "P",
     "Show allocation, bindings, map, topo or cpus, separated by commas, as --display-allocation, --report-bindings, "
     "--display-map and --show-hierarchy do.",
     [](Target t, Values v) { apply_directives(t, directives_of("--display"), v[0]); }},
    {"--do-not-launch", "", "OP", "Print what these options request, and start no rank.",
     [](Target t, Values) { t.job.do_not_launch = true; }},
    {"-ppn -N -npernode -perhost", "N", "HOP", "Ranks per node; without -n, this determines the number of ranks.",
     [](Target t, Values v) { t.job.per_node = parse_number("-ppn", v[0], 1); }, Effect::applied, "Ranks per node"},
    {"-pernode", "", "OP", "One rank per node: the same as -ppn 1.", [](Target t, Values) { t.job.per_node = 1; }},
    {"-cpus-per-rank -cpus-per-proc", "N", "OP", "Cores per rank: the same as PE=N with --map-by.",
     [](Target t, Values v) { t.job.map.cores = parse_number("-cpus-per-rank", v[0], 1); }},
    {"-gpus-per-proc -g", "N", "H",
     "Let each rank use N GPUs of its node, the first rank the first N: sets CUDA_VISIBLE_DEVICES, HIP_VISIBLE_DEVICES "
     "and ZE_AFFINITY_MASK. 0: none; AUTO: all (default).",
     [](Target t, Values v) {
         bool const all = topo::lower(v[0]) == "auto";
         t.job.gpus_per_rank = all ? -1 : parse_number("-gpus-per-proc", v[0], 0);
     }},
    {"--bynode", "", "OP", "Distribute the ranks over nodes: the same as --map-by node.",
     [](Target t, Values) { map_by(t, "node"); }},
    {"--bycore", "", "OP", "The same as --map-by core.", [](Target t, Values) { map_by(t, "core"); }},
    {"--bind-to-core", "", "OP", "The same as --bind-to core.", [](Target t, Values) { bind_to(t, "core"); }},
    {"--bind-to-socket", "", "O", "The same as --bind-to socket.", [](Target t, Values) { bind_to(t, "socket"); }},
    {"--nooversubscribe", "", "OP", "Refuse to start more ranks than hosts have slots, or a node has usable cores.",
     [](Target t, Values) { t.job.no_oversubscribe = true; }},
    {"-npersocket", "N", "OP", "The same as --map-by ppr:N:socket.",
     [](Target t, Values v) { map_per_unit(t.job, v[0], "socket"); }},
    {"--ppr", "N:UNIT", "OP", "The same as --map-by ppr:N:UNIT.", [](Target t, Values v) { map_ppr(t, v[0]); }},
    {"-hosts -host -H -hostlist -machine -machines -machinelist", "NAMES", "SHOP",
     "The nodes, separated by commas, each optionally with :SLOTS (default: 1). Ranks fill the slots of the first "
     "node, then of the next, and start over if there are more ranks than slots. After a ':' they apply to that "
     "program only.",
     [](Target t, Values v) { add_host_list(t.program.hosts, v[0]); }, Effect::applied,
     "The nodes: NAME or NAME:SLOTS, separated by commas"},
    {"-f -hostfile -machinefile", "FILE", "HOP",
     "The same from a file, one node per line as NAME, NAME:SLOTS or NAME slots=SLOTS max-slots=MOST user=NAME; # "
     "begins a comment.",
     [](Target t, Values v) {
         add_host_file(t.program.hosts, v[0], t.job.notes);
         t.job.host_files.push_back(v[0]);
     }},
    {"--default-hostfile", "FILE", "OP", "The same, if neither an option nor a batch system names a node.",
     [](Target t, Values v) { t.job.default_host_file = v[0]; }},
    {"-order-nodes", "ascending|descending", "H", "Sort the nodes by their slots before ranks are distributed.",
     [](Target t, Values v) { t.job.order = parse_host_order(v[0]); }},
    {"--nolocal -skip-launch-node", "", "HOP", "Start no rank on this node, even if it is among the hosts.",
     [](Target t, Values) { t.job.exclude_local = true; }},
    {"-localonly", "", "", "Start all ranks on this node, regardless of the hosts that are named.",
     [](Target t, Values) { t.job.local_only = true; }},
};

constexpr Option node_options[] = {
    {"--launcher-agent -launcher-exec -bootstrap-exec -rsh", "COMMAND", "H",
     "The command that starts a daemon on another node, called as COMMAND HOST DAEMON; it may have arguments. Default: "
     "on the nodes of a job of Slurm, Flux, LSF or Grid Engine its own command (srun, flux exec, blaunch, qrsh), "
     "otherwise ssh without password prompts.",
     [](Target t, Values v) { t.job.agent = v[0]; }},
    {"-launcher -bootstrap", "ssh|rsh|slurm|flux|lsf|sge|fork", "H",
     "The same by a name: slurm is its srun; fork: no other node.",
     [](Target t, Values v) { choose_launcher(t.job, v[0]); }},
    {"-enable-x", "", "H", "Forward X: call ssh with -X.", [](Target t, Values) { forward_x11(t.job); }},
    {"-rmk", "user|slurm|flux|pbs|lsf|sge|cobalt|oar", "H",
     "Take the nodes from this resource manager; user: from none. Default: the "
     "one in whose job mpiexec runs.",
     [](Target t, Values v) { choose_resource_manager(t.job, v[0]); }},
    {"-iface", "NAME", "H",
     "Use only this interface, such as eth0, or network, such as 10.0.0.0/8, between nodes: the same as TUTTI_NETWORK.",
     [](Target t, Values v) { restrict_network(t.job, v[0]); }},
    {"--prefix", "FOLDER", "OP",
     "Tutti's installation folder on the other nodes: the same as --daemon FOLDER/bin/tutti-daemon.",
     [](Target t, Values v) { t.job.daemon = v[0] + "/bin/tutti-daemon"; }},
    {"--daemon", "FILE", "", "The file of tutti-daemon on the other nodes, if its path differs from that on this node.",
     [](Target t, Values v) { t.job.daemon = v[0]; }},
    {"--start-timeout --spawn-timeout", "SECONDS", "P",
     "Give up if a node does not answer within SECONDS (default: 120): the same as TUTTI_START_TIMEOUT.",
     [](Target t, Values v) { set_seconds_variable(t.job, "--start-timeout", "TUTTI_START_TIMEOUT", v[0]); }},
    {"--silence", "SECONDS", "",
     "End the job if nothing has been received from a node for SECONDS (default: 60) although its connection is open: "
     "the same as TUTTI_SILENCE.",
     [](Target t, Values v) { set_seconds_variable(t.job, "--silence", "TUTTI_SILENCE", v[0]); }},
};

}   // namespace

std::span<Option const> placement() { return placement_options; }
std::span<Option const> nodes() { return node_options; }

}   // namespace tutti::launcher::groups
