// SPDX-License-Identifier: BSD-3-Clause
// Turns the placement options of the command line into a set of cores for each rank.
#include "launcher/placement/placement.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <numeric>

#include <unistd.h>

#include "launcher/placement/allocation.hpp"
#include "launcher/start/spawn.hpp"
#include "runtime/base/error.hpp"
#include "runtime/memory/placement.hpp"
#include "runtime/settings/variables.hpp"
#include "topo/detect.hpp"
#include "topo/draw.hpp"
#include "topo/hierarchy.hpp"
#include "topo/text.hpp"
#include "topo/this_machine.hpp"

namespace tutti::launcher {
namespace {

bool is_set(char const* name) { return std::getenv(name) != nullptr; }

bool inside_batch_job() {
    constexpr std::array names = {"SLURM_JOB_ID", "PBS_JOBID",  "LSB_JOBID",
                                  "COBALT_JOBID", "OAR_JOB_ID", "PE_HOSTFILE"};
    return std::any_of(names.begin(), names.end(), is_set);
}

/// True if no other job can use the cores that we see. This requires that a batch system has confined the job to some
/// cores or given it the whole node, and that the job has more ranks than half of the cores, so that a second job of
/// the same size cannot have cores of its own beside it.
bool exclusive_cores(topo::Machine const& machine, int ranks) {
    if (!inside_batch_job() || 2 * ranks <= machine.core_count()) return false;
    long units = static_cast<long>(machine.pus.size());
    if (units < sysconf(_SC_NPROCESSORS_ONLN)) return true;
    constexpr std::array size_variables = {"SLURM_CPUS_ON_NODE", "NCPUS", "LSB_DJOB_NUMPROC"};
    return std::any_of(size_variables.begin(), size_variables.end(), [&](char const* name) {
        return is_set(name) && topo::parse_number<long>(std::getenv(name)).value_or(0) >= units;
    });
}

template <class T>
T value_or_throw(topo::Result<T> const& result) {
    if (result) return *result;
    std::string message = result.error();
    while (message.ends_with('.')) message.pop_back();
    throw LaunchError(message);
}

[[noreturn]] void fail_unusable_unit(int unit, std::vector<int> const& usable) {
    throw LaunchError(
        join("--cpu-set: processing unit ", unit, " is not among those usable here, ", topo::ranges(usable)));
}

void restrict_affinity(std::vector<int> const& cpus) {
    std::vector<int> const usable = topo::affinity_pus();
    for (int unit : cpus)
        if (!std::ranges::binary_search(usable, unit)) fail_unusable_unit(unit, usable);
    if (std::string const error = topo::apply_binding(cpus); !error.empty())
        throw LaunchError(join("--cpu-set: ", error.substr(0, error.size() - 1)));
}

void restrict_machine(topo::Machine& machine, std::vector<int> const& cpus) {
    std::vector<int> usable;
    for (topo::Pu const& unit : machine.pus) usable.push_back(unit.os);
    std::ranges::sort(usable);
    for (int unit : cpus)
        if (!std::ranges::binary_search(usable, unit)) fail_unusable_unit(unit, usable);
    std::erase_if(machine.pus, [&](topo::Pu const& unit) { return std::ranges::find(cpus, unit.os) == cpus.end(); });
}

/// Ranks for which the file names no cores are bound to all cores, that is, not bound.
topo::BindTo binding_from_rank_file(Job const& job, std::vector<int> const& ranks, topo::Machine const& machine) {
    topo::BindTo bind{.kind = topo::BindTo::Kind::user, .user = {}};
    bool any = false;
    for (int rank : ranks) {
        RankFileEntry const& entry = job.rank_file_entries.at(static_cast<std::size_t>(rank));
        any = any || !entry.slots.empty();
        try {
            bind.user.push_back(slot_units(entry.slots.empty() ? "*" : entry.slots, machine));
        } catch (LaunchError const& error) { throw LaunchError(join("--rankfile: rank ", rank, ": ", error.what())); }
    }
    if (any) return bind;
    return job.bind.value_or(topo::BindTo{.kind = topo::BindTo::Kind::none, .user = {}});
}

/// Returns the settings of one program; appends their errors to `errors`.
Variables variables_of(Job const& job, std::size_t program, std::vector<std::string>& errors) {
    EnvironmentRules const none;
    EnvironmentRules const& own = job.programs.empty() ? none : job.programs[program].environment;
    std::vector<std::string> const entries = rank_environment(environ, job.environment, own, {}, {});
    std::vector<char const*> pointers;
    for (std::string const& entry : entries) pointers.push_back(entry.c_str());
    pointers.push_back(nullptr);
    return read_variables(pointers.data(), errors);
}

/// Returns the lines of --show-hierarchy about the placement of the ranks' memory.
std::string describe_memory(NodePlacement const& placed, std::vector<int> const& ranks) {
    if (placed.machine.simulated) return "Memory: a simulated machine has no memory to place.\n";
    PlacementTest const test = test_placement(kernel_numa());
    if (!test.succeeded) return join("Memory: ", test.message, ".\n");
    NumaHomes const homes = numa_homes(placed);
    std::map<int, std::vector<int>> ranks_of_node;
    for (std::size_t i = 0; i < homes.node_of_rank.size(); ++i)
        ranks_of_node[homes.node_of_rank[i]].push_back(ranks[i]);
    std::string text = join("Memory: ", test.message, ".\n");
    for (auto const& [node, here] : ranks_of_node)
        text += node < 0 ? join("  of ranks ", topo::ranges(here), ": on the node on which each rank starts\n")
                         : join("  of ranks ", topo::ranges(here), ": on node ", node, "\n");
    return text;
}

}   // namespace

Variables variables_of(Job const& job) {
    std::vector<std::string> unused;
    return variables_of(job, 0, unused);
}

std::uint64_t reported_for_first_rank(Job const& job) {
    std::vector<std::string> errors;
    bool const is_quiet = job.quiet || variables_of(job, 0, errors).quiet;
    return is_quiet ? 0 : fingerprint(errors);
}

std::vector<std::string> setting_errors(Job const& job) {
    std::vector<std::string> all;
    for (std::size_t program = 0; program < job.programs.size(); ++program) {
        std::vector<std::string> errors;
        Variables const variables = variables_of(job, program, errors);
        if ((variables.quiet || job.quiet) && !variables.strict) continue;
        for (std::string& one : errors)
            if (std::ranges::find(all, one) == all.end()) all.push_back(std::move(one));
    }
    return all;
}

bool requires_valid_settings(Job const& job) {
    for (std::size_t program = 0; program < job.programs.size(); ++program) {
        std::vector<std::string> ignored;
        if (variables_of(job, program, ignored).strict) return true;
    }
    return false;
}

NodePlacement place_ranks(Job const& job, std::vector<int> const& ranks) {
    std::string const pretended = variables_of(job).topology;
    if (pretended.empty() && !job.cpus.empty()) restrict_affinity(job.cpus);
    topo::Machine machine = value_or_throw(topo::read_machine(pretended));
    if (machine.simulated && !job.cpus.empty()) restrict_machine(machine, job.cpus);
    int const count = static_cast<int>(ranks.size());
    int usable = machine.simulated ? static_cast<int>(machine.pus.size()) : topo::usable_cores();
    if (job.no_oversubscribe && count > usable)
        throw LaunchError(
            join(count, " ranks are more than the ", usable, " usable cores, which --nooversubscribe forbids"));
    topo::BindTo bind = job.bind.value_or(topo::BindTo{});
    if (!job.rank_file_entries.empty()) bind = binding_from_rank_file(job, ranks, machine);
    if (job.cpus_in_order) {
        bind = {.kind = topo::BindTo::Kind::user, .user = {}};
        for (int unit : job.cpus) bind.user.push_back({unit});
    }
    topo::Plan plan =
        value_or_throw(topo::plan_ranks(machine, count, job.map, bind, usable, exclusive_cores(machine, count)));
    return {std::move(machine), std::move(plan), topo::usable_cores()};
}

NumaHomes numa_homes(NodePlacement const& placed) {
    return placed.machine.simulated ? NumaHomes{} : numa_homes(kernel_numa(), placed.plan.cpus);
}

std::string binding_report(NodePlacement const& placed, std::vector<int> const& ranks, std::string const& host) {
    std::string all;
    for (std::size_t local_rank = 0; local_rank < ranks.size(); ++local_rank) {
        std::vector<int> const& cpus = placed.plan.cpus[local_rank];
        all += join("mpiexec: rank ", ranks[local_rank], host.empty() ? "" : " on ", host,
                    cpus.empty() ? " is not bound" : " is bound to processing unit ", topo::ranges(cpus), "\n");
    }
    return all;
}

std::string draw_hierarchy(Job const& job, NodePlacement const& placed, std::vector<int> const& ranks) {
    std::vector<int> all(ranks.size());
    std::iota(all.begin(), all.end(), 0);
    topo::LevelChoice choice = value_or_throw(topo::parse_hierarchy(variables_of(job).hierarchy));
    bool const bound_widely = !placed.plan.placement.fixed &&
                              std::ranges::any_of(placed.plan.cpus, [](auto const& set) { return !set.empty(); });
    topo::Hierarchy hierarchy = topo::make_hierarchy(placed.machine, placed.plan.placement, all, choice);
    return topo::draw(placed.machine, placed.plan.placement, hierarchy, {topo::locale_is_utf8(), bound_widely, ranks}) +
           "\n" + describe_memory(placed, ranks);
}

}   // namespace tutti::launcher
