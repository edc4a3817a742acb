// SPDX-License-Identifier: BSD-3-Clause
// Turns the placement options of the command line into a set of cores for each rank.
#include "launcher/placement/placement.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <numeric>

#include <unistd.h>

#include "launcher/placement/rank_file.hpp"
#include "launcher/start/environment.hpp"
#include "runtime/base/error.hpp"
#include "runtime/memory/page_survey.hpp"
#include "runtime/settings/variables.hpp"
#include "topo/detect.hpp"
#include "topo/draw.hpp"
#include "topo/hierarchy.hpp"
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
bool cores_are_ours(topo::Machine const& machine, int ranks) {
    if (!inside_batch_job() || 2 * ranks <= machine.core_count()) return false;
    long units = static_cast<long>(machine.pus.size());
    if (units < sysconf(_SC_NPROCESSORS_ONLN)) return true;
    constexpr std::array told = {"SLURM_CPUS_ON_NODE", "NCPUS", "LSB_DJOB_NUMPROC"};
    return std::any_of(told.begin(), told.end(),
                       [&](char const* name) { return is_set(name) && std::atol(std::getenv(name)) >= units; });
}

template <class T>
T value(topo::Result<T> const& result) {
    if (result) return *result;
    std::string sentence = result.error();
    while (sentence.ends_with('.')) sentence.pop_back();
    throw Complaint(sentence);
}

[[noreturn]] void not_usable(int unit, std::vector<int> const& usable) {
    throw Complaint(
        join("--cpu-set: processing unit ", unit, " is not among those usable here, ", topo::ranges(usable)));
}

void stay_on(std::vector<int> const& cpus) {
    std::vector<int> const usable = topo::affinity_pus();
    for (int unit : cpus)
        if (!std::ranges::binary_search(usable, unit)) not_usable(unit, usable);
    if (std::string const sentence = topo::apply_binding(cpus); !sentence.empty())
        throw Complaint(join("--cpu-set: ", sentence.substr(0, sentence.size() - 1)));
}

void keep_only(topo::Machine& machine, std::vector<int> const& cpus) {
    std::vector<int> usable;
    for (topo::Pu const& unit : machine.pus) usable.push_back(unit.os);
    std::ranges::sort(usable);
    for (int unit : cpus)
        if (!std::ranges::binary_search(usable, unit)) not_usable(unit, usable);
    std::erase_if(machine.pus, [&](topo::Pu const& unit) { return std::ranges::find(cpus, unit.os) == cpus.end(); });
}

/// Ranks for which the file names no cores are bound to all cores, that is, not bound.
topo::BindTo bound_by_file(Job const& job, std::vector<int> const& ranks, topo::Machine const& machine) {
    topo::BindTo bind{.kind = topo::BindTo::Kind::user, .user = {}};
    bool any = false;
    for (int rank : ranks) {
        RankPlace const& place = job.rank_places.at(static_cast<std::size_t>(rank));
        any = any || !place.slots.empty();
        try {
            bind.user.push_back(units_of_slots(place.slots.empty() ? "*" : place.slots, machine));
        } catch (Complaint const& complaint) {
            throw Complaint(join("--rankfile: rank ", rank, ": ", complaint.what()));
        }
    }
    if (any) return bind;
    return job.bind.value_or(topo::BindTo{.kind = topo::BindTo::Kind::none, .user = {}});
}

/// Returns the settings of one program; appends their errors to `complaints`.
Variables variables_of(Job const& job, std::size_t program, std::vector<std::string>& complaints) {
    EnvironmentRules const none;
    EnvironmentRules const& own = job.programs.empty() ? none : job.programs[program].environment;
    std::vector<std::string> const entries = rank_environment(environ, job.environment, own, {}, {});
    std::vector<char const*> pointers;
    for (std::string const& entry : entries) pointers.push_back(entry.c_str());
    pointers.push_back(nullptr);
    return read_variables(pointers.data(), complaints);
}

/// Returns the lines of --show-hierarchy about the placement of the ranks' memory.
std::string memory_line(NodePlacement const& placed, std::vector<int> const& ranks) {
    if (placed.machine.pretended) return "Memory: of a pretended machine there is none to place.\n";
    Trial const trial = try_placement(kernel_numa());
    if (!trial.places) return join("Memory: ", trial.sentence, ".\n");
    Homes const homes = homes_of(placed);
    std::map<int, std::vector<int>> of_node;
    for (std::size_t i = 0; i < homes.of_rank.size(); ++i) of_node[homes.of_rank[i]].push_back(ranks[i]);
    std::string text = join("Memory: ", trial.sentence, ".\n");
    for (auto const& [node, here] : of_node)
        text += node < 0 ? join("  of ranks ", topo::ranges(here), ": where they run when they start\n")
                         : join("  of ranks ", topo::ranges(here), ": on node ", node, "\n");
    return text;
}

}   // namespace

Variables variables_of(Job const& job) {
    std::vector<std::string> told;
    return variables_of(job, 0, told);
}

std::uint64_t told_of_first_rank(Job const& job) {
    std::vector<std::string> complaints;
    bool const silent = job.quiet || variables_of(job, 0, complaints).quiet;
    return silent ? 0 : fingerprint(complaints);
}

std::vector<std::string> wrong_settings(Job const& job) {
    std::vector<std::string> all;
    for (std::size_t program = 0; program < job.programs.size(); ++program) {
        std::vector<std::string> complaints;
        Variables const variables = variables_of(job, program, complaints);
        if ((variables.quiet || job.quiet) && !variables.strict) continue;
        for (std::string& one : complaints)
            if (std::ranges::find(all, one) == all.end()) all.push_back(std::move(one));
    }
    return all;
}

bool strict_settings(Job const& job) {
    for (std::size_t program = 0; program < job.programs.size(); ++program) {
        std::vector<std::string> ignored;
        if (variables_of(job, program, ignored).strict) return true;
    }
    return false;
}

NodePlacement place(Job const& job, std::vector<int> const& ranks) {
    std::string const pretended = variables_of(job).topology;
    if (pretended.empty() && !job.cpus.empty()) stay_on(job.cpus);
    topo::Machine machine = value(topo::read_machine(pretended));
    if (machine.pretended && !job.cpus.empty()) keep_only(machine, job.cpus);
    int const count = static_cast<int>(ranks.size());
    int usable = machine.pretended ? static_cast<int>(machine.pus.size()) : topo::usable_cores();
    if (job.no_oversubscribe && count > usable)
        throw Complaint(
            join(count, " ranks are more than the ", usable, " usable cores, which --nooversubscribe forbids"));
    topo::BindTo bind = job.bind.value_or(topo::BindTo{});
    if (!job.rank_places.empty()) bind = bound_by_file(job, ranks, machine);
    if (job.cpus_in_order) {
        bind = {.kind = topo::BindTo::Kind::user, .user = {}};
        for (int unit : job.cpus) bind.user.push_back({unit});
    }
    topo::Plan plan = value(topo::plan_ranks(machine, count, job.map, bind, usable, cores_are_ours(machine, count)));
    return {std::move(machine), std::move(plan), topo::usable_cores()};
}

Homes homes_of(NodePlacement const& placed) {
    return placed.machine.pretended ? Homes{} : homes_of(kernel_numa(), placed.plan.cpus);
}

std::string binding_report(NodePlacement const& placed, std::vector<int> const& ranks, std::string const& host) {
    std::string all;
    for (std::size_t place = 0; place < ranks.size(); ++place) {
        std::vector<int> const& cpus = placed.plan.cpus[place];
        all += join("mpiexec: rank ", ranks[place], host.empty() ? "" : " on ", host,
                    cpus.empty() ? " is not bound" : " is bound to processing unit ", topo::ranges(cpus), "\n");
    }
    return all;
}

std::string hierarchy_drawing(Job const& job, NodePlacement const& placed, std::vector<int> const& ranks) {
    std::vector<int> all(ranks.size());
    std::iota(all.begin(), all.end(), 0);
    topo::LevelChoice choice = value(topo::parse_hierarchy(variables_of(job).hierarchy));
    bool const bound_widely = !placed.plan.placement.fixed &&
                              std::ranges::any_of(placed.plan.cpus, [](auto const& set) { return !set.empty(); });
    topo::Hierarchy hierarchy = topo::make_hierarchy(placed.machine, placed.plan.placement, all, choice);
    return topo::draw(placed.machine, placed.plan.placement, hierarchy, {topo::locale_is_utf8(), bound_widely, ranks}) +
           "\n" + memory_line(placed, ranks);
}

}   // namespace tutti::launcher
