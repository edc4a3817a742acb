// SPDX-License-Identifier: BSD-3-Clause
// The node lists of resource managers, each in its own format, and the agents with which they start daemons.
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <sstream>
#include <utility>

#include <nlohmann/json.hpp>

#include "launcher/base/text.hpp"
#include "launcher/placement/allocation.hpp"
#include "launcher/start/commands.hpp"
#include "runtime/base/error.hpp"
#include "topo/text.hpp"

namespace tutti::launcher {
namespace {

constexpr char slurm_list_name[] = "Slurm's list of nodes (SLURM_JOB_NODELIST)";

constexpr char flux_list_name[] = "Flux's list of nodes (flux resource R)";

int parse_count(std::string_view text, std::string_view source) {
    auto const count = topo::parse_number<int>(text);
    if (!count) throw LaunchError(join(source, " has '", printable(text), "' instead of a number"));
    return *count;
}

/// Splits at commas that are not inside brackets.
std::vector<std::string_view> split_outside_brackets(std::string_view text) {
    std::vector<std::string_view> parts;
    std::size_t start = 0;
    int depth = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        if (i < text.size() && text[i] == '[') ++depth;
        if (i < text.size() && text[i] == ']') --depth;
        if (i < text.size() && (text[i] != ',' || depth > 0)) continue;
        if (i > start) parts.push_back(text.substr(start, i - start));
        start = i + 1;
    }
    return parts;
}

/// Expands "01-03" to 01 02 03, padded to the number of digits of the first.
void add_range(std::vector<std::string>& out, std::string_view range, std::string_view source) {
    std::size_t const dash = range.find('-');
    std::string_view const first = range.substr(0, dash);
    if (dash == std::string_view::npos) return void(out.emplace_back(first));
    int const from = parse_count(first, source), to = parse_count(range.substr(dash + 1), source);
    if (to < from || to - from > 1'000'000) throw LaunchError(join(source, " has the range ", printable(range)));
    for (int i = from; i <= to; ++i) {
        std::string digits = std::to_string(i);
        if (digits.size() < first.size()) digits.insert(0, first.size() - digits.size(), '0');
        out.push_back(digits);
    }
}

void expand(std::vector<std::string>& out, std::string const& front, std::string_view rest, std::string_view source) {
    std::size_t const open = rest.find('['), close = rest.find(']');
    bool const one_bracket = (open == std::string_view::npos) != (close == std::string_view::npos);
    if (one_bracket || close < open)
        throw LaunchError(join(source, " has '", printable(rest), "' with an unmatched bracket"));
    if (open == std::string_view::npos) return void(out.push_back(front + std::string(rest)));
    std::vector<std::string> middles;
    for (std::string_view range : split_outside_brackets(rest.substr(open + 1, close - open - 1)))
        add_range(middles, range, source);
    for (std::string const& middle : middles)
        expand(out, front + std::string(rest.substr(0, open)) + middle, rest.substr(close + 1), source);
}

/// Checks a host name from a variable or a file by the rules of host files. Throws LaunchError.
Host checked_host(std::string_view name, int slots, std::string_view variable) {
    std::vector<Host> one;
    try {
        add_host_list(one, name);
    } catch (LaunchError const& error) { throw LaunchError(join(variable, ": ", error.what())); }
    if (one.size() != 1 || one[0].slots > 0)
        throw LaunchError(join(variable, ": '", printable(name), "' is not the name of a host"));
    return {one[0].name, slots};
}

/// Expands "4(x2),1" to 4 4 1.
std::vector<int> slurm_counts(std::string_view text) {
    constexpr char source[] = "SLURM_TASKS_PER_NODE";
    std::vector<int> counts;
    for (std::string_view part : split_outside_brackets(text)) {
        std::size_t const times = part.find("(x");
        int const count = parse_count(part.substr(0, times), source);
        int const again = times == std::string_view::npos
                              ? 1
                              : parse_count(part.substr(times + 2, part.find(')') - times - 2), source);
        counts.insert(counts.end(), static_cast<std::size_t>(std::min(again, 1'000'000)), count);
    }
    return counts;
}

std::vector<std::string> expand_list(std::string_view text, std::string_view source) {
    std::vector<std::string> names;
    for (std::string_view part : split_outside_brackets(text)) expand(names, "", part, source);
    return names;
}

char const* slurm_list(Getenv const& variable) {
    char const* list = variable("SLURM_JOB_NODELIST");
    return list && *list ? list : variable("SLURM_NODELIST");   // the older name
}

std::vector<Host> slurm_hosts(Getenv const& variable) {
    char const *const list = slurm_list(variable), *const tasks = variable("SLURM_TASKS_PER_NODE"),
                      *const cores = variable("SLURM_JOB_CPUS_PER_NODE");
    std::vector<Host> hosts;
    std::vector<int> const counts = slurm_counts(tasks ? tasks : cores ? cores : "");
    for (std::string const& name : expand_slurm_list(list)) {
        std::size_t const i = hosts.size();
        hosts.push_back(checked_host(name, i < counts.size() ? counts[i] : 0, slurm_list_name));
    }
    if (hosts.empty()) throw LaunchError(join(slurm_list_name, " is '", printable(list), "' and names no node"));
    return hosts;
}

/// Asks the Flux instance in which mpiexec runs.
std::vector<Host> flux_hosts(Getenv const&) {
    FILE* const out = popen("exec flux resource R --states=up", "r");
    std::string text;
    for (int c; out && (c = std::fgetc(out)) != EOF;) text += static_cast<char>(c);
    int const status = out ? pclose(out) : -1;
    if (!out || (WIFEXITED(status) && WEXITSTATUS(status) != 0))
        throw LaunchError(
            "the command 'flux resource R', which lists the nodes of the Flux instance of FLUX_URI, has "
            "failed; -rmk user ignores the instance");
    return parse_flux_resources(text);
}

std::istringstream open_host_file(char const* file, char const* variable) {
    return std::istringstream(read_user_file(join("the file that ", variable, " names, "), file));
}

/// Reads the file of a variable, with one line per slot.
template <auto const& name>
std::vector<Host> hosts_by_line(Getenv const& variable) {
    std::vector<Host> hosts;
    std::istringstream in = open_host_file(variable(name), name);
    for (std::string host; in >> host;) hosts.push_back(checked_host(host, 1, name));
    return hosts;
}

/// Reads Grid Engine's file, which has one line per node: its name, its slots and further fields.
std::vector<Host> grid_engine_hosts(Getenv const& variable) {
    std::vector<Host> hosts;
    std::istringstream in = open_host_file(variable("PE_HOSTFILE"), "PE_HOSTFILE");
    for (std::string line; std::getline(in, line);) {
        std::istringstream words(line);
        std::string name, slots;
        if (words >> name >> slots)
            hosts.push_back(checked_host(name, parse_count(slots, "PE_HOSTFILE"), "PE_HOSTFILE"));
    }
    return hosts;
}

std::vector<Host> lsf_hosts(Getenv const& variable) {
    std::vector<Host> hosts;
    std::istringstream words{std::string(variable("LSB_MCPU_HOSTS"))};
    for (std::string name, slots; words >> name >> slots;)
        hosts.push_back(checked_host(name, parse_count(slots, "LSB_MCPU_HOSTS"), "LSB_MCPU_HOSTS"));
    return hosts;
}

/// A resource manager, the variable by which it is recognised, and the command that starts a daemon on one of its
/// nodes, in the form of --launcher-agent; empty: ssh.
struct Manager {
    std::string_view name;
    char const* variable;
    std::vector<Host> (*hosts)(Getenv const& variable);
    char const* agent;
};

constexpr char pbs_file[] = "PBS_NODEFILE", cobalt_file[] = "COBALT_NODEFILE", oar_file[] = "OAR_NODEFILE";

// Flux first, because its instance may run inside a job of the others.
constexpr Manager managers[] = {
    {"flux", "FLUX_URI", flux_hosts, flux_agent},
    {"slurm", "SLURM_JOB_NODELIST", slurm_hosts, slurm_agent},
    {"pbs", pbs_file, hosts_by_line<pbs_file>, ""},
    {"cobalt", cobalt_file, hosts_by_line<cobalt_file>, ""},
    {"oar", oar_file, hosts_by_line<oar_file>, ""},
    {"lsf", "LSB_MCPU_HOSTS", lsf_hosts, lsf_agent},
    {"sge", "PE_HOSTFILE", grid_engine_hosts, grid_engine_agent},
};

/// A process of a Flux job has the variable of an instance whose nodes are not its own.
bool is_inside(Manager const& manager, Getenv const& variable) {
    if (manager.name == "slurm") return slurm_list(variable) && *slurm_list(variable);
    if (manager.name == "flux" && variable("FLUX_JOB_ID")) return false;
    return variable(manager.variable) != nullptr;
}

}   // namespace

std::vector<std::string> expand_slurm_list(std::string_view text) { return expand_list(text, slurm_list_name); }

std::vector<Host> parse_flux_resources(std::string const& text) {
    LaunchError const invalid(join(flux_list_name, " is not understood: ", printable(text)));
    nlohmann::json const resources = nlohmann::json::parse(text, nullptr, false);
    std::map<int, int> cores;   // by the rank of a node; the names are in the order of ranks
    std::vector<Host> hosts;
    try {
        for (auto const& group : resources.at("execution").at("R_lite")) {
            auto const count = topo::parse_number_list(group.at("children").at("core").get<std::string>());
            auto const ranks = topo::parse_number_list(group.at("rank").get<std::string>());
            if (!count.valid || !ranks.valid) throw invalid;
            for (int rank : ranks.numbers) cores[rank] += static_cast<int>(count.numbers.size());
        }
        auto next = cores.begin();
        for (auto const& names : resources.at("execution").at("nodelist"))
            for (std::string const& name : expand_list(names.get<std::string>(), flux_list_name)) {
                if (next == cores.end()) throw invalid;
                hosts.push_back(checked_host(name, (next++)->second, flux_list_name));
            }
    } catch (nlohmann::json::exception const&) { throw invalid; }
    if (hosts.empty()) throw LaunchError(join(flux_list_name, " names no node"));
    return hosts;
}

ManagedHosts hosts_of_resource_manager(Getenv const& variable, std::string_view name) {
    if (name == "user") return {};
    char const* missing = nullptr;
    for (Manager const& one : managers) {
        if (!name.empty() && one.name != name) continue;
        missing = one.variable;
        if (is_inside(one, variable)) return {one.hosts(variable), one.agent};
    }
    if (name.empty()) return {};
    throw LaunchError(
        join("-rmk ", name, ": mpiexec does not run inside a job of this resource manager (", missing, " is not set)"));
}

// Variables of other launchers.

namespace {

constexpr char const* host_file_variables[] = {"HYDRA_HOST_FILE", "I_MPI_HYDRA_HOST_FILE",
                                               "OMPI_MCA_orte_default_hostfile", "OMPI_MCA_prte_default_hostfile",
                                               "PRTE_MCA_prte_default_hostfile"};

/// Returns the file that the variable names; empty if it names none, for which Open MPI has a word.
std::string host_file(Getenv const& variable, char const* name) {
    char const* const file = variable(name);
    bool const is_hydra = std::string_view(name).find("HYDRA_") != std::string_view::npos;
    return file && (is_hydra || std::string_view(file) != "none") ? file : "";
}

struct NamedText {
    char const* name = nullptr;   ///< of a variable; null: none is set
    std::string text{};
};

NamedText first_of(Getenv const& variable, std::initializer_list<char const*> names) {
    for (char const* name : names)
        if (char const* const text = variable(name); text && *text) return {name, text};
    return {};
}

}   // namespace

std::vector<Host> hosts_of_variables(Getenv const& variable, std::vector<std::string>& notes) {
    for (char const* name : host_file_variables) {
        std::string const file = host_file(variable, name);
        if (file.empty()) continue;
        std::vector<Host> hosts;
        try {
            add_host_file(hosts, file, notes);
        } catch (LaunchError const& error) { throw LaunchError(join(name, ": ", error.what())); }
        return hosts;
    }
    return {};
}

bool is_host_file_of_variables(Getenv const& variable, std::string const& file) {
    return std::ranges::any_of(host_file_variables, [&](char const* name) {
        std::error_code none;
        return std::filesystem::equivalent(file, host_file(variable, name), none);
    });
}

char const* agent_named(std::string_view name) {
    constexpr std::pair<std::string_view, char const*> agents[] = {{"ssh", ssh_agent},     {"rsh", "rsh"},
                                                                   {"slurm", slurm_agent}, {"flux", flux_agent},
                                                                   {"lsf", lsf_agent},     {"sge", grid_engine_agent}};
    for (auto const& [one, command] : agents)
        if (one == name) return command;
    return nullptr;
}

std::string agent_of_variables(Getenv const& variable, std::vector<std::string>& notes) {
    NamedText const launcher = first_of(variable, {"HYDRA_LAUNCHER", "HYDRA_BOOTSTRAP", "I_MPI_HYDRA_BOOTSTRAP"});
    NamedText const path =
        first_of(variable, {"HYDRA_LAUNCHER_EXEC", "HYDRA_BOOTSTRAP_EXEC", "I_MPI_HYDRA_BOOTSTRAP_EXEC"});
    NamedText const command =
        first_of(variable, {"OMPI_MCA_plm_rsh_agent", "OMPI_MCA_plm_ssh_agent", "PRTE_MCA_plm_ssh_agent"});
    NamedText const arguments = first_of(
        variable, {"HYDRA_LAUNCH_EXTRA_ARGS", "HYDRA_LAUNCHER_EXTRA_ARGS", "I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS",
                   "OMPI_MCA_plm_rsh_args", "OMPI_MCA_plm_ssh_args", "PRTE_MCA_plm_ssh_args"});
    char const* const named = launcher.name ? agent_named(launcher.text) : ssh_agent;
    if (!named)
        notes.push_back(join(launcher.name, "=", printable(launcher.text),
                             " has no effect: mpiexec starts its daemons by ",
                             "ssh, or by the command of --launcher-agent"));
    bool const is_ssh = !named || named == std::string(ssh_agent);
    if (is_ssh && !path.name && !command.name && !arguments.name) return {};
    std::vector<std::string> words = split_agent_command(named ? named : ssh_agent);
    std::size_t end = 1;   // ssh uses the first value of an option, so the user's arguments come before the others
    if (path.name && is_ssh) words = {path.text};
    else if (path.name) words[0] = path.text;
    if (!path.name && command.name) {
        // Open MPI's list of alternatives is separated by colons.
        words = split_agent_command(std::string(topo::trimmed(command.text.substr(0, command.text.find(':')))),
                                    command.name);
        end = words.size();
    }
    std::vector<std::string> const more = parse_config_arguments(arguments.text, arguments.name ? arguments.name : "");
    words.insert(words.begin() + static_cast<std::ptrdiff_t>(end), more.begin(), more.end());
    std::string text;
    for (std::string const& word : words) text += (text.empty() ? "" : " ") + shell_quoted(word);
    return text;
}

}   // namespace tutti::launcher
