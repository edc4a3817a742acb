// SPDX-License-Identifier: BSD-3-Clause
// From the words of the command line to a place for each rank.
#include "launcher/placement.hpp"

#include <array>
#include <cstdlib>
#include <numeric>

#include <unistd.h>

#include "runtime/error.hpp"
#include "runtime/variables.hpp"
#include "topo/detect.hpp"
#include "topo/draw.hpp"
#include "topo/hierarchy.hpp"
#include "topo/usable.hpp"

namespace tutti::launcher {
namespace {

// Inside a batch job the cores of the affinity mask were given to us; elsewhere another job may run on the same ones.
bool cores_are_ours() {
    constexpr std::array<char const*, 6> batch = {"SLURM_JOB_ID", "PBS_JOBID",  "LSB_JOBID",
                                                  "COBALT_JOBID", "OAR_JOB_ID", "JOB_ID"};
    for (char const* name : batch)
        if (std::getenv(name)) return true;
    return false;
}

Variables settings() {
    std::vector<std::string> complaints;   // ranks print them; once is enough
    return read_variables(environ, complaints);
}

template <class T>
T value(topo::Result<T> const& result) {
    if (result) return *result;
    std::string sentence = result.error();
    while (sentence.ends_with('.')) sentence.pop_back();
    throw Complaint(sentence);
}

}  // namespace

Placed place(Job const& job, int ranks) {
    topo::Machine machine = value(topo::read_machine(settings().topology));
    int usable = machine.pretended ? static_cast<int>(machine.pus.size()) : topo::usable_cores();
    topo::BindTo bind = job.bind.value_or(topo::BindTo{});
    topo::Plan plan = value(topo::plan_ranks(machine, ranks, job.map, bind, usable, cores_are_ours()));
    return {std::move(machine), std::move(plan), topo::usable_cores()};
}

std::string binding_report(Placed const& placed) {
    std::string all;
    for (std::size_t rank = 0; rank < placed.plan.cpus.size(); ++rank) {
        std::vector<int> const& cpus = placed.plan.cpus[rank];
        all += join("mpiexec: rank ", rank, cpus.empty() ? " is not bound" : " is bound to processing unit ",
                    topo::ranges(cpus), "\n");
    }
    return all;
}

std::string hierarchy_drawing(Placed const& placed, int ranks) {
    std::vector<int> all(static_cast<std::size_t>(ranks));
    std::iota(all.begin(), all.end(), 0);
    topo::LevelChoice choice = value(topo::parse_hierarchy(settings().hierarchy));
    topo::Hierarchy hierarchy = topo::make_hierarchy(placed.machine, placed.plan.placement, all, choice);
    return topo::draw(placed.machine, placed.plan.placement, hierarchy, {topo::locale_is_utf8()});
}

}  // namespace tutti::launcher
