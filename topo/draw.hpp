// SPDX-License-Identifier: BSD-3-Clause
// Draws the output of `mpiexec --show-hierarchy` as text for a terminal: the machine as a tree of sockets, NUMA nodes,
// caches and cores with the ranks on them, and the tree of teams with their leaders. Runs of ranks and cores are
// abbreviated.
#pragma once

#include <string>
#include <vector>

#include "topo/hierarchy.hpp"
#include "topo/machine.hpp"

namespace tutti::topo {

struct DrawStyle {
    bool utf8 = true;                  ///< box characters, else plain ASCII
    bool bound_widely = false;         ///< ranks are bound, but to more than the units at which they are drawn
    std::vector<int> rank_numbers{};   ///< number to print for each rank, ascending; empty: its own
};

/// Returns the drawing; each line ends with a line feed. `hierarchy` must contain all ranks of the node in order
/// (MPI_COMM_WORLD on one node).
std::string draw(const Machine& machine, const Placement& placement, const Hierarchy& hierarchy,
                 const DrawStyle& style);

/// Returns true if the locale uses UTF-8. The first of LC_ALL, LC_CTYPE and LANG that is set decides, as in the C
/// library.
bool locale_is_utf8();

}   // namespace tutti::topo
