// SPDX-License-Identifier: BSD-3-Clause
// A node as plain data: what of its topology matters to a collective operation. Read once per node by the launcher
// (topo/machine/detect.hpp) and handed to the ranks as text in the node segment, so that the MPI library needs no
// hwloc.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "topo/base/result.hpp"

namespace tutti::topo {

/// A number of a processor, rank or level as the index of a vector.
inline std::size_t at(int number) { return static_cast<std::size_t>(number); }

// What can hold several ranks together, from the closest to the widest. `node` is all of this machine.
enum class Level { l2, l3, numa, socket, node };

inline constexpr int level_count = 5;

std::string_view name_of(Level level);

// One usable processing unit (hardware thread). All ids but `os` count from 0 over the whole machine in hwloc's
// order, not within the parent: two units share a NUMA node if and only if their `numa` is equal.
struct Pu {
    int os = 0;   // the number sched_setaffinity knows it by
    int core = 0;
    int l2 = 0;
    int l3 = 0;
    int numa = 0;
    int socket = 0;

    // Its id at a level; 0 at `node`.
    int at(Level level) const;
    bool operator==(const Pu&) const = default;
};

// Sizes in bytes; 0 where unknown. The private level is the largest cache that one core has for itself, the last
// level the largest that several share (per instance, of which there are `last_level_count`).
struct Caches {
    /// What is assumed of a cache that is not described: typical of servers since 2017, and rather too large than too
    /// small, because a copy past a cache that would have held it costs more than the reverse
    /// (runtime/kernels/copy.cpp).
    /// Without a description of the last level, one is assumed for each socket.
    static constexpr std::size_t assumed_private_size = std::size_t{1} << 20;
    static constexpr std::size_t assumed_last_level_size = std::size_t{32} << 20;

    /// The same with each unknown size replaced by the assumed one. A private level that is not described is assumed to
    /// be no larger than the last level. Whatever depends on a size must read it from here.
    Caches without_unknowns() const;

    std::size_t private_size = 0;
    std::size_t last_level_size = 0;
    int last_level_count = 1;
    std::size_t line_size = 64;
    bool inclusive = false;   // the last level holds what the private ones hold

    bool operator==(const Caches&) const = default;
};

struct Machine {
    std::string name;         // "this machine", or the description or file of a pretended one
    std::string cpu;          // the processor's own name, may be empty
    bool pretended = false;   // nothing may be bound to its processing units
    Caches caches;
    std::vector<Pu> pus;   // only usable ones, neighbours side by side; never empty

    // Ranks per unit are counted with this: how many different things there are at a level.
    int count(Level level) const;
    int core_count() const;

    // A machine of which only the processing units are known: one core each, one L3, NUMA node and socket.
    static Machine plain(std::span<const int> os_numbers);

    /// Where the caches of a level are not known for each unit (-1), an L2 is taken to be as wide as a core and an L3
    /// as wide as a socket, for all units: numbers of both kinds must not meet in one level.
    void complete_caches();

    // Text of a few lines, the first of which gives the version. from_text takes anything and refuses what to_text
    // has not written with a sentence.
    std::string to_text() const;
    static Result<Machine> from_text(std::string_view text);

    bool operator==(const Machine&) const = default;
};

// Where the ranks of a node are: for each an index into Machine::pus.
struct Placement {
    std::vector<int> pu;
    // True when ranks stay where `pu` says: they are bound, or the machine is pretended. Else `pu` is an assumption
    // (place_in_order) that the kernel may break; only NUMA nodes and sockets are then used for levels by default.
    bool fixed = false;

    std::string to_text() const;
    // Refuses units outside of the machine.
    static Result<Placement> from_text(std::string_view text, const Machine& machine);

    bool operator==(const Placement&) const = default;
};

// Both in one text: what the launcher puts into the segment and each rank reads at start-up.
struct NodeMap {
    Machine machine;
    Placement placement;

    std::string to_text() const { return machine.to_text() + placement.to_text(); }
    static Result<NodeMap> from_text(std::string_view text);
};

// The assumption for ranks that are not bound. Up to one rank per core: rank i on the first unit of core i. More ranks
// than cores: blocks of neighbours, rank i of n on unit i * units / n. Fixed only on a pretended machine.
Placement place_in_order(const Machine& machine, int ranks);

}   // namespace tutti::topo
