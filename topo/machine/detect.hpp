// SPDX-License-Identifier: BSD-3-Clause
// hwloc in, Machine out. Object library tutti_topo_detect, for the launcher and tutti-info only: the MPI library links
// no hwloc. No PCI, I/O or network scan and no plugins; about 1 ms.
#pragma once

#include <string>

#include "topo/base/result.hpp"
#include "topo/machine/machine.hpp"

namespace tutti::topo {

// The machine this process runs on, reduced to its affinity mask. Never fails: a plain machine where hwloc cannot tell.
Machine detect_machine();

/// All of it, also the units that the affinity mask or a control group forbids this process: others may run there.
/// Without hwloc's answer a plain machine of the affinity mask.
Machine detect_whole_machine();

// The most processing units that a pretended machine may have: hwloc's time grows with their square, and is about a
// second at this bound.
inline constexpr long most_pretended_units = 4096;

// A pretended one, for TUTTI_TOPOLOGY: the name of an hwloc XML file (ends in .xml or contains a slash), or an hwloc
// synthetic description such as "socket:2 numa:4 core:8". More than most_pretended_units are refused before hwloc sees
// them.
Result<Machine> pretended_machine(const std::string& description);

// pretended_machine when the description is not empty, else detect_machine.
Result<Machine> read_machine(const std::string& description);

}   // namespace tutti::topo
