// SPDX-License-Identifier: BSD-3-Clause
// A communicator: a group, a context of its own for messages and for collectives, and what users hang on it.
// Making one is a collective operation and lives in coll/; this is the finished thing.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "runtime/attribute.hpp"
#include "runtime/errhandler.hpp"
#include "runtime/group.hpp"
#include "runtime/info.hpp"
#include "runtime/object.hpp"
#include "runtime/virtual_topology.hpp"

namespace tutti {

class Process;

/// What a layer above keeps per communicator (coll/ its flags, slots and choices).
struct Extension {
    virtual ~Extension() = default;
};

class Comm final : public Object {
public:
    /// `context`: unique in the job, made by the communicator's rank 0 (see Process::fresh_context).
    Comm(Process& p, Ref<Group> members, std::uint64_t context_id)
        : process(p), group(std::move(members)), context(context_id) {}

    int rank() const { return group->rank(); }
    int size() const { return group->size(); }
    int world_rank(int rank) const { return group->world_rank(rank); }

    Process& process;
    Ref<Group> group;
    std::uint64_t const context;
    std::string name;
    Ref<Errhandler> errhandler;
    Ref<Info> info;
    Attributes attributes;
    std::unique_ptr<VirtualTopology> topology;   ///< null: none (MPI_UNDEFINED)
    std::unique_ptr<Extension> collectives;      ///< owned by coll/, made with the communicator
};

}  // namespace tutti
