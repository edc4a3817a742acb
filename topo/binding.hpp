// SPDX-License-Identifier: BSD-3-Clause
// Placement and binding of ranks on a node: parses --bind-to and --map-by in the spellings of MPICH and Open MPI,
// computes each rank's set of processing units, and applies such a set to the calling thread. Used by the launcher.
// The MPI library uses the same units to describe the hardware that a process cannot leave.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "topo/machine.hpp"
#include "topo/result.hpp"

namespace tutti::topo {

/// The kinds of hardware to which a rank can be bound, or over which ranks can be distributed. `slot` is the next free
/// core or hardware thread in machine order.
enum class Unit { slot, hwthread, core, l2, l3, numa, socket, node };

/// Returns the unit that `word` (in lower case) means in --bind-to and --map-by; none if it is not a unit.
std::optional<Unit> unit_named(std::string_view word);
/// Returns the id of the `unit` that contains `pu`; 0 for `slot` and `node`.
int id_of(const Pu& pu, Unit unit);

/// --bind-to auto|none|UNIT[:count]|user:0+2,1+4,…, after launcher/options has removed its own qualifiers.
struct BindTo {
    enum class Kind { automatic, none, unit, user };
    Kind kind = Kind::automatic;
    Unit unit = Unit::core;
    int count = 1;                        ///< number of neighbouring units per rank
    std::vector<std::vector<int>> user;   ///< OS numbers per rank; used cyclically if there are more ranks
};

/// --map-by UNIT[:count][:PE=n] or ppr:N:UNIT[:PE=n]
struct MapBy {
    Unit unit = Unit::slot;
    int count = 1;      ///< MPICH's count: the next rank goes to the unit this many further on
    int per_unit = 0;   ///< N of ppr: fill each unit with this many ranks before the next; 0: one rank per unit in turn
    int cores = 0;      ///< PE=n: number of cores per rank, to which the rank is also bound; 0: not given
    /// The user gave --map-by. If not, plan_ranks maps by the unit of an explicit --bind-to that is wider than a core,
    /// else by slots in order.
    bool is_given = false;
};

/// Parse the value of an option, ignoring letter case. The error of a failure names the option and the invalid part.
Result<BindTo> parse_bind_to(std::string_view text);
Result<MapBy> parse_map_by(std::string_view text);

/// The valid values, separated by bars, for help, completion and error messages; a part in capitals is a placeholder.
inline constexpr std::string_view bind_to_values = "auto|none|hwthread|core|l2|l3|numa|socket|node|user:LIST";
inline constexpr std::string_view map_by_values = "slot|hwthread|core|l2|l3|numa|socket|node|ppr:N:UNIT";

/// The result of plan_ranks.
struct Plan {
    Placement placement;                  ///< for each rank an index into Machine::pus
    std::vector<std::vector<int>> cpus;   ///< OS numbers per rank; an empty set: not bound
    std::string note;                     ///< a message to the user (ranks share cores, …), or empty
};

/// Computes where `ranks` ranks run and what they are bound to.
///
/// `exclusive_cores`: a batch system or the user states that no other job uses the cores of the affinity mask.
/// `usable`: the number of ranks that can run at the same time (usable_cores). `BindTo::Kind::automatic` means the
/// first that applies:
/// - Cores, if `map` contains PE=n, or if `exclusive_cores` and each rank gets a core of its own within `usable` cores.
/// - NUMA nodes, where the memory of the ranks is, if there are as many ranks as cores (or as hardware threads) on
///   several NUMA nodes, even without `exclusive_cores`: a second job of that size has no cores of its own in any case,
///   a smaller one is not bound, and the kernel continues to balance ranks inside the NUMA nodes.
/// - No binding, because two jobs on one node must not be bound to the same cores.
///
/// An explicit binding is carried out even if ranks must share cores; `Plan::note` then says so. On a simulated machine
/// no rank is bound. Fails if a ppr mapping cannot hold all ranks, if a unit of the mapping has fewer cores than a rank
/// needs, or if a user set contains a processing unit that is not in `machine`.
Result<Plan> plan_ranks(const Machine& machine, int ranks, const MapBy& map, const BindTo& bind, int usable,
                        bool exclusive_cores = false);

/// Binds the calling thread; other threads of the process keep their affinity. Does nothing for an empty set. Returns
/// an empty string on success, else an error message.
std::string apply_binding(std::span<const int> os_numbers);

/// Formats ascending numbers as ranges: {0, 1, 2, 5} → "0-2,5".
std::string ranges(std::span<const int> numbers);

// Hardware to which a process is restricted, and its names in MPI programs, for MPI_Comm_split_type and
// MPI_Get_hw_resource_info (MPI 4.1, 7.4.2 and 9.1.2).

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
