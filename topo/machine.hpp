// SPDX-License-Identifier: BSD-3-Clause
// A node as plain data: the parts of its topology that matter to collective operations. The launcher reads it once per
// node (topo/detect.hpp) and passes it to the ranks as text in the node segment, so that the MPI library needs no
// hwloc.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "topo/result.hpp"

namespace tutti::topo {

/// Converts the number of a processor, rank or level to an index of a vector.
inline std::size_t at(int number) { return static_cast<std::size_t>(number); }

/// Hardware that several ranks can share, from the closest to the widest. `node` is the whole machine.
enum class Level { l2, l3, numa, socket, node };

inline constexpr int level_count = 5;

std::string_view name_of(Level level);

/// A usable processing unit (hardware thread). All ids except `os` count from 0 over the whole machine in hwloc's
/// order, not within the parent: two units share a NUMA node if and only if their `numa` is equal.
struct Pu {
    int os = 0;   ///< number used by sched_setaffinity
    int core = 0;
    int l2 = 0;
    int l3 = 0;
    int numa = 0;
    int socket = 0;

    /// Returns the id at a level; 0 at `node`.
    int at(Level level) const;
    bool operator==(const Pu&) const = default;
};

/// Sizes in bytes; 0 if unknown. The private level is the largest cache that one core has to itself. The last level is
/// the outermost cache, which several cores usually share (the size is per instance; there are `last_level_count`).
struct Caches {
    /// Assumed sizes of caches that are not described: typical of servers since 2017, and too large rather than too
    /// small, because bypassing a cache that would have held the data costs more than the reverse
    /// (runtime/kernels/copy.cpp). If the last level is not described, one per socket is assumed.
    static constexpr std::size_t assumed_private_size = std::size_t{1} << 20;
    static constexpr std::size_t assumed_last_level_size = std::size_t{32} << 20;

    /// Returns a copy in which each unknown size is replaced by the assumed one. A private level that is not described
    /// is assumed to be no larger than the last level. Code that depends on a size must read it from this copy.
    Caches without_unknowns() const;

    std::size_t private_size = 0;
    std::size_t last_level_size = 0;
    int last_level_count = 1;
    std::size_t line_size = 64;
    bool inclusive = false;   ///< the last level contains the contents of the private ones

    bool operator==(const Caches&) const = default;
};

struct Machine {
    std::string name;         ///< "this machine", or the description or file of a simulated machine
    std::string cpu;          ///< model name of the processor; may be empty
    bool simulated = false;   ///< its processing units do not exist, so no rank may be bound to them
    Caches caches;
    std::vector<Pu> pus;   ///< only usable ones, neighbours adjacent; never empty

    /// Returns the number of distinct units at a level.
    int count(Level level) const;
    int core_count() const;

    /// Returns a machine of which only the processing units are known: one core for each, and one L3 cache, NUMA node
    /// and socket for all.
    static Machine plain(std::span<const int> os_numbers);

    /// If a cache level is unknown (-1) for any unit, replaces it for all units: an L2 cache becomes as wide as a core
    /// and an L3 cache as wide as a socket. Known and assumed numbers must not be mixed in one level.
    void complete_caches();

    /// The text form has a few lines, the first of which contains the version. from_text accepts arbitrary input and
    /// fails with an error message unless to_text has written it.
    std::string to_text() const;
    static Result<Machine> from_text(std::string_view text);

    bool operator==(const Machine&) const = default;
};

/// Where the ranks of a node run: an index into Machine::pus for each.
struct Placement {
    std::vector<int> pu;
    /// True if ranks stay where `pu` says: they are bound, or the machine is simulated. If false, `pu` is an assumption
    /// (place_in_order) that the kernel may break; by default only NUMA nodes and sockets then become levels.
    bool fixed = false;

    std::string to_text() const;
    /// Fails if a unit is not in `machine`.
    static Result<Placement> from_text(std::string_view text, const Machine& machine);

    bool operator==(const Placement&) const = default;
};

/// Machine and placement in one text, which the launcher writes into the segment and each rank reads in MPI_Init.
struct NodeMap {
    Machine machine;
    Placement placement;

    std::string to_text() const { return machine.to_text() + placement.to_text(); }
    static Result<NodeMap> from_text(std::string_view text);
};

/// Returns the assumed placement of ranks that are not bound. With at most one rank per core, rank i runs on the first
/// unit of core i. With more ranks than cores, neighbours form blocks: rank i of n runs on unit i * units / n. The
/// placement is fixed only on a simulated machine.
Placement place_in_order(const Machine& machine, int ranks);

}   // namespace tutti::topo
