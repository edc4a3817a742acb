// SPDX-License-Identifier: BSD-3-Clause
// What the collectives keep per communicator and per process.
#pragma once

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "coll/area.hpp"
#include "coll/choose.hpp"
#include "coll/use.hpp"
#include "runtime/process.hpp"
#include "topo/hierarchy.hpp"

namespace tutti::coll {

/// Per communicator: its memory, its trees, its count of operations, its choices, what it was used for.
struct CommState final : Extension {
    CommState(Process& p, Area a, topo::Hierarchy tree, std::vector<topo::Crossing> to_peers, int my_rank)
        : process(p), area(a), trees(std::move(tree)), crossings(std::move(to_peers)), rank(my_rank) {}
    ~CommState() override;

    /// Waits until the next operation's channel is free everywhere, and counts the operation. See area.hpp.
    std::uint64_t begin(char const* operation) {
        if (++op > safe) [[unlikely]] wait_for_channel(operation);
        return op;
    }
    void end() {
        area.done(rank).publish(op);
        own_soon(&area.channel(rank, op + 1).cell);
    }
    void wait_for_channel(char const* operation);

    Process& process;
    Area area;
    Trees trees;                              ///< of the levels that the process has chosen
    std::vector<std::pair<topo::LevelChoice, std::unique_ptr<Trees>>> other_trees;   ///< of algorithms' own levels
    std::vector<topo::Crossing> crossings;    ///< from this rank to each member
    int rank;
    std::uint64_t op = 0;                     ///< operations begun
    std::uint64_t safe = channel_depth;       ///< operations up to this number may begin without asking
    std::uint64_t owned_offset = 0;           ///< of the area if it lies in this rank's heap, else 0
    std::unique_ptr<Settings> settings;       ///< its own, by info keys; null: the process's
    Choices choices;
    std::array<Use, collectives> uses;
};

/// Per process: the placement of the node's ranks, the settings read, and staging memory.
struct ProcessState final : Extension {
    topo::Machine machine;
    topo::Placement placement;
    topo::LevelChoice levels;
    Settings settings;
    std::uint64_t staging = 0;                ///< offset of this rank's staging memory, 0: not allocated yet
    std::size_t staging_bytes = 0;            ///< what algorithms reckon with: the same in every rank of the job
    Ledger* ledger = nullptr;                 ///< null: calls are not recorded
    std::size_t staging_room = 0;             ///< what is allocated, or will be: more after a type with huge elements
};

inline CommState& state_of(Comm const& comm) { return static_cast<CommState&>(*comm.collectives); }
inline ProcessState& state_of(Process const& process) { return static_cast<ProcessState&>(*process.collectives); }

}  // namespace tutti::coll
