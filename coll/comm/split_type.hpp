// SPDX-License-Identifier: BSD-3-Clause
// New communicators of those who share something (MPI 3.1, 6.4.2; MPI 4.1, 7.4.2).
#pragma once

#include <optional>

#include "runtime/objects/comm.hpp"
#include "topo/binding/restriction.hpp"

namespace tutti::coll {

/// What a process wants to share with the members of its new communicator.
struct Shared {
    enum class What {
        nothing,     ///< it wants no communicator
        node,        ///< memory
        unit,        ///< one piece of hardware of a kind, which none of them can leave
        some_unit,   ///< the same, of the widest kind that sets some of them apart
        world,       ///< everybody
        itself,
    } what = What::nothing;
    topo::Unit unit = topo::Unit::node;   ///< of What::unit
};

struct SplitByType {
    Ref<Comm> comm;                   ///< null: nobody to share that with
    std::optional<topo::Unit> unit;   ///< the kind of hardware that it shares
};

/// Collective. Those who want the same and have it in common come together, ranks by key as in split(); who can leave
/// every piece of the hardware in question gets nothing.
SplitByType split_by_type(Comm& parent, Shared const& wanted, int key);

}   // namespace tutti::coll
