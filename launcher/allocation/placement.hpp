// SPDX-License-Identifier: BSD-3-Clause
// Where the ranks of a job go: the machine, read once, and the plan.
#pragma once

#include <string>
#include <vector>

#include "launcher/base/job.hpp"
#include "runtime/memory/placement/numa.hpp"
#include "runtime/settings/variables.hpp"
#include "topo/machine/machine.hpp"

namespace tutti::launcher {

struct NodePlacement {
    topo::Machine machine;
    topo::Plan plan;
    int usable_cores = 1;
};

/// As the ranks of the first program will read them: they and the launcher must see the same machine.
Variables variables_of(Job const& job);

/// What is wrong with the settings of the job's programs, each sentence once; nothing where no warnings are wanted.
std::vector<std::string> wrong_settings(Job const& job);
/// Whether one of the programs must not run with a wrong setting (TUTTI_STRICT).
bool strict_settings(Job const& job);
/// The fingerprint of those among them that are about rank 0, who then does not tell them again.
std::uint64_t told_of_first_rank(Job const& job);

/// Reads the machine (or the pretended one of TUTTI_TOPOLOGY) and plans; `ranks`: the world ranks of this node. With
/// --cpu-set this process, and what it starts, stays on those processing units from now on. Throws Complaint.
NodePlacement place(Job const& job, std::vector<int> const& ranks);

/// The NUMA nodes for the ranks' memory. On a pretended machine there are none.
Homes homes_of(NodePlacement const& placed);

/// What --report-bindings prints: one line per rank. `ranks`: the world ranks that were placed, in order; `host` is
/// named unless empty.
std::string binding_report(NodePlacement const& placed, std::vector<int> const& ranks, std::string const& host);

/// What --show-hierarchy prints of one node; `ranks` as in `place`.
std::string hierarchy_drawing(Job const& job, NodePlacement const& placed, std::vector<int> const& ranks);

}   // namespace tutti::launcher
