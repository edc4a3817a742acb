// SPDX-License-Identifier: BSD-3-Clause
// What follows from who is in a communicator and from where its members run. Communicators of the same members in the
// same order share it: it grows with them, and a thousand duplicates need it once.
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "coll/env/division.hpp"
#include "coll/env/env.hpp"
#include "runtime/objects/comm.hpp"
#include "topo/hierarchy/hierarchy.hpp"

namespace tutti::coll {

struct GroupLayout {
    GroupLayout(Ref<Group> all, topo::Hierarchy tree, std::vector<topo::Locality> to_members)
        : group(std::move(all)), trees(std::move(tree)), localities(std::move(to_members)) {}

    /// Of a group on several nodes.
    struct Nodes {
        Division map;
        Trees masters;         ///< one team of as many ranks as there are nodes
        Ref<Group> this_one;   ///< the members on this node
    };

    Ref<Group> const group;
    Trees trees;   ///< of the levels that the process has chosen; between nodes: of nodes
    std::vector<topo::Locality> const localities;   ///< from this rank to each member
    std::optional<Nodes> nodes;                     ///< none: all members are on one node
    std::vector<std::pair<topo::LevelChoice, std::unique_ptr<Trees>>> other_trees;   ///< of algorithms' own levels
};

/// What a communicator over several nodes has besides: of its members on this node a communicator of their own, whose
/// collectives use shared memory. All ranks here are those of the union group.
struct MultiNode {
    MultiNode(Ref<Comm> part, GroupLayout::Nodes const& nodes)
        : node(std::move(part)), map(nodes.map), masters(nodes.masters) {}

    Ref<Comm> node;        ///< the members on this node
    Division const& map;   ///< these two are the layout's
    Trees const& masters;
};

/// The layouts in use of a process, by their members.
class GroupLayouts {
public:
    /// make() makes the one that there is not yet.
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

}   // namespace tutti::coll
