// SPDX-License-Identifier: BSD-3-Clause
// What a communicator over several nodes has besides: its members by node, and of those on this node a communicator of
// their own, whose collectives use shared memory. All ranks here are those of the union group.
#pragma once

#include "coll/env/division.hpp"
#include "coll/env/env.hpp"
#include "runtime/objects/comm.hpp"

namespace tutti::coll {

struct MultiNode {
    MultiNode(Ref<Comm> part, Division who)
        : node(std::move(part)), map(std::move(who)), masters(topo::Hierarchy::build(map.count(), {})) {}

    Ref<Comm> node;   ///< the members on this node
    Division map;
    Trees masters;   ///< one team of as many ranks as there are nodes
};

}   // namespace tutti::coll
