// SPDX-License-Identifier: BSD-3-Clause
// Where ranks go on a node: --bind-to and --map-by in the spellings of MPICH and Open MPI, the calculation of each
// rank's set of processing units, and the one call that applies it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "topo/base/result.hpp"
#include "topo/machine/machine.hpp"

namespace tutti::topo {

// What a rank can be bound to or ranks can be dealt out over. `slot` is the next free place, in order.
enum class Unit { slot, hwthread, core, l2, l3, numa, socket, node };

// Which of them one of the words of --bind-to and --map-by means.
std::optional<Unit> unit_named(std::string_view word);
// The number of the one that a processing unit lies in; 0 for `slot` and `node`.
int id_of(const Pu& pu, Unit unit);

// --bind-to automatic|none|UNIT[:count]|user:0+2,1+4,…, without the qualifiers that launcher/options knows
struct BindTo {
    enum class Kind { automatic, none, unit, user };
    Kind kind = Kind::automatic;
    Unit unit = Unit::core;
    int count = 1;                        // so many neighbouring units per rank
    std::vector<std::vector<int>> user;   // os numbers per rank, used again from the start when ranks outnumber them
};

// --map-by UNIT[:count][:PE=n] or ppr:N:UNIT[:PE=n]
struct MapBy {
    Unit unit = Unit::slot;
    int count = 1;       // MPICH's number: the next rank goes this many units on
    int per_unit = 0;    // ppr's number: fill each unit with so many ranks before the next; 0 = deal out in turn
    int cores = 0;       // PE=n: so many cores for each rank (it also binds to them); 0 = not said
    bool said = false;   // not said: as --bind-to for units wider than a core, else slots in order
};

Result<BindTo> parse_bind_to(std::string_view text);
Result<MapBy> parse_map_by(std::string_view text);

// The valid words, for help and error messages: "auto, none, hwthread, …".
std::string_view bind_to_words();
std::string_view map_by_words();

struct Plan {
    Placement placement;                  // index into Machine::pus for every rank
    std::vector<std::vector<int>> cpus;   // os numbers per rank; an empty set: not bound
    std::string note;                     // a sentence worth telling (ranks share cores, …), or empty
};

// `cores_are_ours`: a batch system or the user says that nobody else uses the cores of the affinity mask. Without that,
// automatic means none: two jobs on one node must not be bound to the same cores. With it, ranks are bound to cores
// when each gets one of its own (within `usable` cores). Also without it, ranks that are as many as the cores (or the
// hardware threads) of several NUMA nodes are bound to their NUMA nodes, where their memory is: a second job like that
// has no cores of its own anyway, a smaller one is not bound, and inside of the nodes the kernel goes on balancing.
// What was asked for by name is done, also when cores must be shared, and the note says so. On a pretended machine
// nothing is bound. Fails when ppr has no place for all ranks.
Result<Plan> plan_ranks(const Machine& machine, int ranks, const MapBy& map, const BindTo& bind, int usable,
                        bool cores_are_ours = false);

// Binds the calling process (not its other threads). Empty on success, else a sentence; an empty set does nothing.
std::string apply_binding(std::span<const int> os_numbers);

// {0, 1, 2, 5} → "0-2,5"
std::string ranges(std::span<const int> numbers);

}   // namespace tutti::topo
