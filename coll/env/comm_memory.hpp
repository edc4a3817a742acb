// SPDX-License-Identifier: BSD-3-Clause
// What environments need of a communicator and of a process; choice and call keep more (coll/choice/state.hpp).
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "coll/env/group_layout.hpp"
#include "coll/env/operation_sequence.hpp"
#include "coll/env/staging.hpp"
#include "topo/hierarchy/hierarchy.hpp"

namespace tutti::coll {

class AllCallRecords;   // coll/match/all_call_records.hpp

struct CommMemory : Extension, OperationSequence {
    CommMemory(Process& p, Area a, std::shared_ptr<GroupLayout> who_is_where, int my_rank,
               std::unique_ptr<MultiNode> several_nodes = {})
        : OperationSequence(p, a, my_rank), layout(std::move(who_is_where)), multi_node(std::move(several_nodes)),
          trees(layout->trees), localities(layout->localities) {}

    std::shared_ptr<GroupLayout> const layout;
    std::unique_ptr<MultiNode> const multi_node;   ///< null: all members are on one node
    Trees const& trees;                            ///< these two are the layout's
    std::vector<topo::Locality> const& localities;
};

struct ProcessMemory : Extension {
    explicit ProcessMemory(std::size_t staging) : staging_bytes(staging), stagings(staging) {}

    std::size_t staging_bytes;   ///< what algorithms reckon with: the same in every rank of the job
    StagingPool stagings;
    GroupLayouts layouts;
    std::shared_ptr<AllCallRecords> call_records;   ///< null: calls are not recorded
};

inline CommMemory& memory_of(Comm const& comm) { return static_cast<CommMemory&>(*comm.collectives); }
inline ProcessMemory& memory_of(Process const& process) { return static_cast<ProcessMemory&>(*process.collectives); }

}   // namespace tutti::coll
