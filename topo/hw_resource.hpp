// SPDX-License-Identifier: BSD-3-Clause
// Hardware to which a process is restricted, and its names in MPI programs, for MPI_Comm_split_type and
// MPI_Get_hw_resource_info (MPI 4.1, 7.4.2 and 9.1.2).
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>

#include "topo/binding.hpp"

namespace tutti::topo {

/// The kinds of hardware, widest first. They are not always nested (NUMA nodes and L3 caches).
inline constexpr std::array hardware = {Unit::node, Unit::socket, Unit::numa,    Unit::l3,
                                        Unit::l2,   Unit::core,   Unit::hwthread};

/// Returns hwloc's name of a unit as the URI that MPI 4.1 recommends: "hwloc://NUMANode" and so on.
std::string_view hwloc_name(Unit unit);

/// Finds hardware by hwloc's name, with or without "hwloc://", or by a unit name of --bind-to, ignoring letter case.
/// Returns none if the name is unknown.
std::optional<Unit> hardware_named(std::string_view name);

/// The units that a process cannot leave, by index of `hardware`: the id of the unit, or -1 if the process can use
/// several. Every process is restricted to its node.
using Restriction = std::array<int, hardware.size()>;

/// Returns the restriction of a process that runs only on the processing units `pus`. If `pus` is empty, the process
/// runs on all units of `machine`.
Restriction restriction(const Machine& machine, std::span<const Pu> pus);

}   // namespace tutti::topo
