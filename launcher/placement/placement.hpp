// SPDX-License-Identifier: BSD-3-Clause
// Placement of the ranks on this node: detects the machine once and makes the plan.
#pragma once

#include <string>
#include <vector>

#include "launcher/base/job.hpp"
#include "runtime/memory/numa.hpp"
#include "runtime/settings/variables.hpp"
#include "topo/machine.hpp"

namespace tutti::launcher {

/// The machine and the plan for the ranks of this node. `usable_cores`: number of ranks that can run at the same time.
struct NodePlacement {
    topo::Machine machine;
    topo::Plan plan;
    int usable_cores = 1;
};

/// Returns the settings as the ranks of the first program will read them: the ranks and the launcher must see the
/// same machine.
Variables variables_of(Job const& job);

/// Returns the errors in the settings of the job's programs, each message once. Omits programs whose warnings are
/// disabled, unless they are strict.
std::vector<std::string> setting_errors(Job const& job);
/// True if one of the programs must not run with an invalid setting (TUTTI_STRICT).
bool requires_valid_settings(Job const& job);
/// Returns the fingerprint of the errors in the settings of rank 0, so that rank 0 does not report them again; 0 if
/// warnings are disabled.
std::uint64_t reported_for_first_rank(Job const& job);

/// Detects the machine (or reads the simulated one of TUTTI_TOPOLOGY) and makes the plan. `ranks`: the world ranks of
/// this node. With --cpu-set, confines this process and its children to those processing units from now on. Throws
/// LaunchError.
NodePlacement place_ranks(Job const& job, std::vector<int> const& ranks);

/// Returns the NUMA nodes for the ranks' memory; none on a simulated machine.
NumaHomes numa_homes(NodePlacement const& placed);

/// Returns the text of --report-bindings, one line per rank. `ranks`: the world ranks that were placed, in order;
/// `host` is named unless it is empty.
std::string binding_report(NodePlacement const& placed, std::vector<int> const& ranks, std::string const& host);

/// Returns the text of --show-hierarchy for one node; `ranks` as in `place_ranks`.
std::string draw_hierarchy(Job const& job, NodePlacement const& placed, std::vector<int> const& ranks);

}   // namespace tutti::launcher
