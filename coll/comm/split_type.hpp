// SPDX-License-Identifier: BSD-3-Clause
// Communicators of processes that share a resource (MPI 3.1, 6.4.2; MPI 4.1, 7.4.2).
#pragma once

#include <optional>

#include "runtime/objects/comm.hpp"
#include "topo/binding.hpp"

namespace tutti::coll {

/// The resource that a process requests to share with the members of its new communicator.
struct SharedResource {
    enum class Scope {
        nothing,    ///< it requests no communicator
        node,       ///< memory
        unit,       ///< one piece of hardware of a given kind, to which each of them is restricted
        any_unit,   ///< as `unit`, with the widest kind of hardware that separates some of them
        world,      ///< all processes
        self,       ///< only this process
    } scope = Scope::nothing;
    topo::Unit unit = topo::Unit::node;   ///< only for Scope::unit
};

struct SplitByType {
    Ref<Comm> comm;                   ///< null: none was requested, or this process is restricted to no such unit
    std::optional<topo::Unit> unit;   ///< kind of hardware that they share; nullopt: no hardware, or no `comm`
};

/// Collective. Processes that request the same resource and share it form a communicator, with ranks ordered by key as
/// in split(). A process that is not restricted to one piece of the requested hardware gets none.
SplitByType split_by_type(Comm& parent, SharedResource const& requested, int key);

}   // namespace tutti::coll
