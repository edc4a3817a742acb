// SPDX-License-Identifier: BSD-3-Clause
// Reads a Machine with hwloc. Belongs to the object library tutti_topo_detect, which only mpiexec, tutti-info and
// tutti-tune link: the MPI library links no hwloc. Without PCI, I/O and network discovery and without plugins it takes
// about 1 ms. Not for programs with threads, because it changes environment variables for a moment.
#pragma once

#include <string>

#include "topo/machine.hpp"
#include "topo/result.hpp"

namespace tutti::topo {

/// Returns the machine that this process runs on, reduced to its affinity mask. Never fails: returns Machine::plain if
/// hwloc gives no answer.
Machine detect_machine();

/// Returns the whole machine, including the units that the affinity mask or a control group forbids this process,
/// because other processes may run there. Returns Machine::plain of the affinity mask if hwloc gives no answer.
Machine detect_whole_machine();

/// Maximum number of processing units of a simulated machine. hwloc's time grows with the square of this number and is
/// about one second at the limit.
inline constexpr long max_simulated_units = 4096;

/// Returns the simulated machine for a value of TUTTI_TOPOLOGY: the name of an hwloc XML file (ends in .xml or contains
/// a slash), or an hwloc synthetic description such as "socket:2 numa:4 core:8". Descriptions of more than
/// max_simulated_units units are rejected before hwloc reads them.
Result<Machine> simulated_machine(const std::string& description);

/// Returns simulated_machine(description), or detect_machine() if `description` is empty.
Result<Machine> read_machine(const std::string& description);

}   // namespace tutti::topo
