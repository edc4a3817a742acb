// SPDX-License-Identifier: BSD-3-Clause
// The node lists of resource managers, each in its own format.
#include <algorithm>
#include <sstream>

#include "launcher/base/text.hpp"
#include "launcher/placement/allocation.hpp"
#include "launcher/start/commands.hpp"
#include "runtime/base/error.hpp"
#include "topo/text.hpp"

namespace tutti::launcher {
namespace {

constexpr char slurm_list_name[] = "Slurm's list of nodes (SLURM_JOB_NODELIST)";

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
void add_range(std::vector<std::string>& out, std::string_view range) {
    std::size_t const dash = range.find('-');
    std::string_view const first = range.substr(0, dash);
    if (dash == std::string_view::npos) return void(out.emplace_back(first));
    int const from = parse_count(first, slurm_list_name), to = parse_count(range.substr(dash + 1), slurm_list_name);
    if (to < from || to - from > 1'000'000)
        throw LaunchError(join(slurm_list_name, " has the range ", printable(range)));
    for (int i = from; i <= to; ++i) {
        std::string digits = std::to_string(i);
        if (digits.size() < first.size()) digits.insert(0, first.size() - digits.size(), '0');
        out.push_back(digits);
    }
}

void expand(std::vector<std::string>& out, std::string const& front, std::string_view rest) {
    std::size_t const open = rest.find('['), close = rest.find(']');
    bool const one_bracket = (open == std::string_view::npos) != (close == std::string_view::npos);
    if (one_bracket || close < open)
        throw LaunchError(join(slurm_list_name, " has '", printable(rest), "' with an unmatched bracket"));
    if (open == std::string_view::npos) return void(out.push_back(front + std::string(rest)));
    std::vector<std::string> middles;
    for (std::string_view range : split_outside_brackets(rest.substr(open + 1, close - open - 1)))
        add_range(middles, range);
    for (std::string const& middle : middles)
        expand(out, front + std::string(rest.substr(0, open)) + middle, rest.substr(close + 1));
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

char const* slurm_list(Getenv const& variable) {
    char const* list = variable("SLURM_JOB_NODELIST");
    return list && *list ? list : variable("SLURM_NODELIST");   // the older name
}

std::vector<Host> slurm_hosts(char const* list, char const* tasks) {
    std::vector<Host> hosts;
    std::vector<int> const counts = slurm_counts(tasks ? tasks : "");
    for (std::string const& name : expand_slurm_list(list)) {
        std::size_t const i = hosts.size();
        hosts.push_back(checked_host(name, i < counts.size() ? counts[i] : 0, slurm_list_name));
    }
    if (hosts.empty()) throw LaunchError(join(slurm_list_name, " is '", printable(list), "' and names no node"));
    return hosts;
}

std::istringstream open_host_file(char const* file, char const* variable) {
    return std::istringstream(read_user_file(join("the file that ", variable, " names, "), file));
}

/// Reads a file with one line per slot.
std::vector<Host> hosts_by_line(char const* file, char const* variable) {
    std::vector<Host> hosts;
    std::istringstream in = open_host_file(file, variable);
    for (std::string name; in >> name;) hosts.push_back(checked_host(name, 1, variable));
    return hosts;
}

/// Reads Grid Engine's file, which has one line per node: its name, its slots and further fields.
std::vector<Host> grid_engine_hosts(char const* file) {
    std::vector<Host> hosts;
    std::istringstream in = open_host_file(file, "PE_HOSTFILE");
    for (std::string line; std::getline(in, line);) {
        std::istringstream words(line);
        std::string name, slots;
        if (words >> name >> slots)
            hosts.push_back(checked_host(name, parse_count(slots, "PE_HOSTFILE"), "PE_HOSTFILE"));
    }
    return hosts;
}

std::vector<Host> lsf_hosts(char const* list) {
    std::vector<Host> hosts;
    std::istringstream words{std::string(list)};
    for (std::string name, slots; words >> name >> slots;)
        hosts.push_back(checked_host(name, parse_count(slots, "LSB_MCPU_HOSTS"), "LSB_MCPU_HOSTS"));
    return hosts;
}

}   // namespace

std::vector<std::string> expand_slurm_list(std::string_view text) {
    std::vector<std::string> names;
    for (std::string_view part : split_outside_brackets(text)) expand(names, "", part);
    return names;
}

std::vector<Host> hosts_of_resource_manager(Getenv const& variable, std::string_view manager) {
    struct Manager {
        std::string_view name;
        char const* variable;
        std::vector<Host> (*read)(char const* value, char const* variable);
    };
    constexpr Manager others[] = {
        {"pbs", "PBS_NODEFILE", hosts_by_line},
        {"cobalt", "COBALT_NODEFILE", hosts_by_line},
        {"oar", "OAR_NODEFILE", hosts_by_line},
        {"lsf", "LSB_MCPU_HOSTS", [](char const* list, char const*) { return lsf_hosts(list); }},
        {"sge", "PE_HOSTFILE", [](char const* file, char const*) { return grid_engine_hosts(file); }},
    };
    if (manager == "user") return {};
    bool const any = manager.empty();
    char const* missing = "SLURM_JOB_NODELIST";
    if (any || manager == "slurm") {
        char const* const list = slurm_list(variable);
        char const* const tasks = variable("SLURM_TASKS_PER_NODE");
        if (list && *list) return slurm_hosts(list, tasks ? tasks : variable("SLURM_JOB_CPUS_PER_NODE"));
    }
    for (Manager const& one : others) {
        if (!any && one.name != manager) continue;
        missing = one.variable;
        if (char const* value = variable(one.variable)) return one.read(value, one.variable);
    }
    if (any) return {};
    throw LaunchError(join("-rmk ", manager, ": mpiexec does not run inside a job of this resource manager (", missing,
                           " is not set)"));
}

std::vector<Host> hosts_of_variables(Getenv const& variable, std::vector<std::string>& notes) {
    for (char const* name : {"HYDRA_HOST_FILE", "I_MPI_HYDRA_HOST_FILE", "OMPI_MCA_orte_default_hostfile",
                             "OMPI_MCA_prte_default_hostfile", "PRTE_MCA_prte_default_hostfile"}) {
        char const* const file = variable(name);
        if (!file || !*file) continue;
        std::vector<Host> hosts;
        try {
            add_host_file(hosts, file, notes);
        } catch (LaunchError const& error) { throw LaunchError(join(name, ": ", error.what())); }
        if (!hosts.empty()) return hosts;
    }
    return {};
}

std::string agent_of_variables(Getenv const& variable) {
    auto const first = [&](std::initializer_list<char const*> names) {
        for (char const* name : names)
            if (char const* const text = variable(name); text && *text) return std::string(text);
        return std::string();
    };
    std::string const command = first({"HYDRA_LAUNCHER_EXEC", "I_MPI_HYDRA_BOOTSTRAP_EXEC", "OMPI_MCA_plm_rsh_agent",
                                       "OMPI_MCA_plm_ssh_agent", "PRTE_MCA_plm_ssh_agent"});
    std::string const arguments = first({"HYDRA_LAUNCH_EXTRA_ARGS", "I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS",
                                         "OMPI_MCA_plm_rsh_args", "OMPI_MCA_plm_ssh_args", "PRTE_MCA_plm_ssh_args"});
    if (command.empty() && arguments.empty()) return {};
    // Open MPI's list of alternatives is separated by colons.
    std::string const chosen(topo::trimmed(command.substr(0, command.find(':'))));
    return join(chosen.empty() ? ssh_agent : chosen, arguments.empty() ? "" : " ", arguments);
}

std::string resource_manager_agent(Getenv const& variable) {
    char const* const list = slurm_list(variable);
    if (!list || !*list) return {};
    return slurm_agent;
}

}   // namespace tutti::launcher
