// SPDX-License-Identifier: BSD-3-Clause
// What a communicator over several nodes has besides: its members by node, and of those on this node a communicator of
// their own, whose collectives use shared memory. All ranks here are those of the union group.
#pragma once

#include "coll/env/group_layout.hpp"
#include "runtime/objects/comm.hpp"

namespace tutti::coll {

struct MultiNode {
    MultiNode(Ref<Comm> part, GroupLayout::Nodes const& nodes)
        : node(std::move(part)), map(nodes.map), masters(nodes.masters) {}

    Ref<Comm> node;        ///< the members on this node
    Division const& map;   ///< these two are the layout's
    Trees const& masters;
};

}   // namespace tutti::coll
