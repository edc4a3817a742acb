// SPDX-License-Identifier: BSD-3-Clause
// Data derived from the members of a communicator and from where they run: trees, localities, nodes. Communicators with
// the same members in the same order share it: its size grows with the group, and a thousand duplicates need it once.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "coll/env/env.hpp"
#include "coll/env/operation_sequence.hpp"
#include "coll/env/shm_env.hpp"
#include "runtime/objects/comm.hpp"
#include "runtime/objects/group.hpp"
#include "runtime/settings/cluster.hpp"
#include "runtime/wait/task.hpp"
#include "topo/hierarchy.hpp"

namespace tutti::coll {

/// A partition as seen by one of its ranks.
class NodePartition : public Partition {
public:
    /// Divides the ranks by node.
    NodePartition(Group const& all, Cluster const& cluster);
    NodePartition(topo::Hierarchy const& tree, int rank) : Partition(tree), own_part_(part_of(rank)) {}

    int own_part() const { return own_part_; }   ///< the part that contains this rank
    using Partition::members;
    std::span<int const> members() const { return members(own_part_); }

private:
    int own_part_;
};

struct GroupLayout {
    GroupLayout(Ref<Group> all, topo::Hierarchy tree, std::vector<topo::Locality> to_members)
        : group(std::move(all)), trees(std::move(tree)), localities(std::move(to_members)) {}

    /// Additional data of a group on several nodes.
    struct Nodes {
        NodePartition partition;
        Trees masters;          ///< one team with a rank for each node
        Ref<Group> this_node;   ///< the members on this node
    };

    Ref<Group> const group;
    Trees trees;   ///< of the levels that the process has chosen; between nodes: of the nodes
    std::vector<topo::Locality> const localities;   ///< from this rank to each member
    std::optional<Nodes> nodes;                     ///< empty if all members are on one node
    std::vector<std::pair<topo::LevelChoice, std::unique_ptr<Trees>>> other_trees;   ///< for levels of algorithms
};

/// What a communicator over several nodes has in addition: a communicator of its members on this node, whose
/// collectives use shared memory. All ranks here are numbered in the union group.
struct MultiNode {
    MultiNode(Ref<Comm> part, GroupLayout::Nodes const& nodes)
        : node(std::move(part)), partition(nodes.partition), masters(nodes.masters) {}

    Ref<Comm> node;                   ///< the members on this node
    NodePartition const& partition;   ///< these two belong to the layout
    Trees const& masters;
};

/// The layouts that a process uses, by their members.
class GroupLayouts {
public:
    /// Returns the layout of `group`. If there is none yet, make() creates it.
    template <class Make>
    std::shared_ptr<GroupLayout> find(Group const& group, Make make) {
        auto const [first, last] = all_.equal_range(hash(group));
        for (auto it = first; it != last; ++it)
            if (auto there = it->second.lock(); there && same(*there->group, group)) return there;
        std::erase_if(all_, [](auto const& entry) { return entry.second.expired(); });
        std::shared_ptr<GroupLayout> const made = make();
        all_.emplace(hash(group), made);
        return made;
    }

private:
    static std::size_t hash(Group const& group) {
        std::size_t h = 0;
        for (int world : group.world_ranks()) h = h * 1'000'003 + static_cast<unsigned>(world);
        return h;
    }
    static bool same(Group const& a, Group const& b) { return std::ranges::equal(a.world_ranks(), b.world_ranks()); }

    std::unordered_multimap<std::size_t, std::weak_ptr<GroupLayout>> all_;
};

// What environments need from a communicator and a process; choice and call keep more (coll/choice/comm_state.hpp).

class CallMatcher;   // coll/match/all_call_records.hpp

struct CommMemory : LayerState, OperationSequence {
    CommMemory(Process& p, Area a, std::shared_ptr<GroupLayout> group_layout, int my_rank,
               std::unique_ptr<MultiNode> on_multiple_nodes = {})
        : OperationSequence(p, a, my_rank), layout(std::move(group_layout)), multi_node(std::move(on_multiple_nodes)),
          trees(layout->trees), localities(layout->localities) {}

    std::shared_ptr<GroupLayout> const layout;
    std::unique_ptr<MultiNode> const multi_node;   ///< null: all members are on one node
    Trees const& trees;                            ///< these two belong to the layout
    std::vector<topo::Locality> const& localities;
    Plans plans;   ///< of this rank, for the communicator's calls
};

struct ProcessMemory : LayerState {
    explicit ProcessMemory(std::size_t staging) : staging_bytes(staging), stagings(staging) {}

    bool times_phases = false;   ///< PhaseClock (team.hpp) counts
    std::size_t staging_bytes;   ///< the size that algorithms plan with: the same in every rank of the job
    StagingPool stagings;
    GroupLayouts layouts;
    std::shared_ptr<CallMatcher> call_matcher;   ///< null: calls are not recorded
};

inline CommMemory& memory_of(Comm const& comm) { return static_cast<CommMemory&>(*comm.collectives); }
inline ProcessMemory& memory_of(Process const& process) { return static_cast<ProcessMemory&>(*process.collectives); }

}   // namespace tutti::coll
