// SPDX-License-Identifier: BSD-3-Clause
// The picture for `mpiexec --show-hierarchy`: the machine as a tree of sockets, NUMA nodes, caches and cores with the
// ranks on them, and the tree of teams with its leaders. Text for a terminal; runs of ranks and cores are shortened.
#pragma once

#include <string>
#include <vector>

#include "topo/hierarchy/hierarchy.hpp"
#include "topo/machine/machine.hpp"

namespace tutti::topo {

struct DrawStyle {
    bool utf8 = true;            // box characters, else plain ASCII
    bool bound_widely = false;   // ranks are bound, but not to the one place that is shown
    std::vector<int> names{};    // what each rank of the hierarchy is called, ascending; empty: its own number
};

// `hierarchy` is that of all ranks of the node in order (MPI_COMM_WORLD on one node).
std::string draw(const Machine& machine, const Placement& placement, const Hierarchy& hierarchy, DrawStyle style);

// From LC_ALL, LC_CTYPE, LANG in that order, as the C library would decide.
bool locale_is_utf8();

}   // namespace tutti::topo
