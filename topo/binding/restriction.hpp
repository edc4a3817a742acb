// SPDX-License-Identifier: BSD-3-Clause
// Hardware that a process cannot leave, and the names that MPI programs give it: what MPI_Comm_split_type splits by and
// MPI_Get_hw_resource_info tells (MPI 4.1, 7.4.2 and 9.1.2).
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>

#include "topo/binding/binding.hpp"

namespace tutti::topo {

// What there is to be restricted to, the widest first; not always one inside of the other (NUMA nodes and L3 caches).
inline constexpr std::array hardware = {Unit::node, Unit::socket, Unit::numa,    Unit::l3,
                                        Unit::l2,   Unit::core,   Unit::hwthread};

// "hwloc://NUMANode" and so on: hwloc's name of a unit as the URI that MPI 4.1 advises.
std::string_view hwloc_name(Unit unit);

// By that name, with or without "hwloc://", or by the words of --bind-to; any case. None: it is no hardware known here.
std::optional<Unit> hardware_named(std::string_view name);

// For each of `hardware` the number of the one that a process cannot leave, -1 where it can use several. Every process
// is restricted to its node.
using Restriction = std::array<int, hardware.size()>;

// Of a process that runs on these processing units only; none: on any, also such as `machine` does not list.
Restriction restriction(const Machine& machine, std::span<const Pu> pus);

}   // namespace tutti::topo
