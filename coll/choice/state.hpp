// SPDX-License-Identifier: BSD-3-Clause
// What the collectives keep per communicator and per process.
#pragma once

#include <array>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "coll/env/multi_node.hpp"
#include "coll/choice/choose.hpp"
#include "coll/env/operation_sequence.hpp"
#include "coll/env/staging.hpp"
#include "coll/choice/use.hpp"
#include "topo/hierarchy/hierarchy.hpp"

namespace tutti::coll {

/// Per communicator: its sequence, its trees, its choices, what it was used for.
struct CommState final : Extension, OperationSequence {
    CommState(Process& p, Area a, topo::Hierarchy tree, std::vector<topo::Locality> to_peers, int my_rank,
              std::unique_ptr<MultiNode> several_nodes = {})
        : OperationSequence(p, a, my_rank), multi_node(std::move(several_nodes)), trees(std::move(tree)),
          localities(std::move(to_peers)) {}

    std::unique_ptr<MultiNode> const multi_node;     ///< null: all members are on one node
    Trees trees;                              ///< of the levels that the process has chosen; across nodes: of nodes
    std::vector<std::pair<topo::LevelChoice, std::unique_ptr<Trees>>> other_trees;   ///< of algorithms' own levels
    std::vector<topo::Locality> localities;    ///< from this rank to each member
    std::unique_ptr<Settings> settings;       ///< its own, by info keys; null: the process's
    std::vector<std::unique_ptr<Settings>> former_settings;   ///< which operations under way may still follow
    bool of_program = true;                   ///< its calls; else they are the library's own, as of a node's part
    Choices choices;
    std::array<Use, collectives> uses;
};

/// Per process: the placement of the node's ranks, the settings read, and staging memory.
struct ProcessState final : Extension {
    ProcessState(Process& process, std::size_t staging)
        : staging_bytes(staging), stagings(staging), progress(process.waiter) {}

    topo::Machine machine;
    topo::Placement placement;
    topo::LevelChoice levels;
    Settings settings;
    std::size_t staging_bytes;                ///< what algorithms reckon with: the same in every rank of the job
    StagingPool stagings;
    CallStatistics* call_statistics = nullptr;                 ///< null: calls are not recorded
    std::set<std::string> told;               ///< of which named algorithms the user knows that they cannot do a call
    Progress progress;                        ///< of the operations in flight
    std::size_t sequence_bytes = 0;               ///< of this rank's heap that sequences of persistent requests hold
};

inline CommState& state_of(Comm const& comm) { return static_cast<CommState&>(*comm.collectives); }
inline ProcessState& state_of(Process const& process) { return static_cast<ProcessState&>(*process.collectives); }

}  // namespace tutti::coll
