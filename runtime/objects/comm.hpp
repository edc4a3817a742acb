// SPDX-License-Identifier: BSD-3-Clause
// A communicator: a group (an intercommunicator has two), a context of its own for point-to-point messages and
// collectives, and the attributes, info and topology that users attach. Creating a communicator is a collective
// operation and belongs to coll/; this file defines the result.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "runtime/objects/attribute.hpp"
#include "runtime/objects/errhandler.hpp"
#include "runtime/objects/group.hpp"
#include "runtime/objects/info.hpp"
#include "runtime/objects/object.hpp"
#include "runtime/objects/virtual_topology.hpp"
#include "runtime/wait/reason.hpp"

namespace tutti {

class BoundCalls;
class Process;

/// State that a layer above keeps per communicator (coll/: flags, slots and choices).
struct LayerState {
    virtual ~LayerState() = default;
    /// Returns a description of the program's last collective call on the communicator with its arguments; empty if
    /// unknown.
    virtual std::string describe_call() const { return {}; }
    /// Returns the name of the algorithm of the last call of this collective ("bcast") on the communicator; empty if
    /// unknown.
    virtual std::string algorithm_of(std::string_view) const { return {}; }
};

/// The members of a communicator. The local group of an intercommunicator is the one that contains this process.
struct Members {
    /// The members of an intracommunicator.
    Members(Ref<Group> all) : group(std::move(all)), union_group(group) {}
    /// The members of an intercommunicator. `local_first`: the local group comes first in `union_group`. All processes
    /// of both groups must agree on the order.
    Members(Ref<Group> local, Ref<Group> others, bool local_first);

    Ref<Group> group;         ///< the local group, in which rank() is this process's rank
    Ref<Group> remote;        ///< the remote group; null for an intracommunicator
    Ref<Group> union_group;   ///< all members, in the same order in all processes; collectives use it
    int remote_offset = 0;    ///< index of the remote group in the union

    bool is_inter() const { return static_cast<bool>(remote); }
    /// Shares the group object `same` of other communicators; it must contain the members of the union group in the
    /// same order.
    void share_group(Ref<Group> same) {
        if (!is_inter()) group = same;
        union_group = std::move(same);
    }
    /// Intercommunicators only: returns true if the local group comes first in the union.
    bool local_group_first() const { return remote_offset > 0; }
    /// Returns the index at which the second group of an intercommunicator begins in the union; 0 for an
    /// intracommunicator.
    int first_group_size() const { return local_group_first() ? remote_offset : is_inter() ? remote->size() : 0; }
};

class Comm final : public HasErrhandler, public Members {
public:
    /// `context_id`: unique in the job, created by one of the members (see Process::new_context_id); 0 while
    /// MPI_Comm_idup is in progress.
    Comm(Process& p, Members members, std::uint64_t context_id)
        : Members(std::move(members)), process(p), context(context_id) {}

    int rank() const { return group->rank(); }
    int size() const { return group->size(); }
    int world_rank(int rank) const { return group->world_rank(rank); }
    /// Returns why this rank waits in a collective operation on the communicator. `member`: the member of the union
    /// group without whose action the wait cannot end; −1: several members, or an unknown one.
    Reason reason(char const* operation, int member = -1) const {
        return {operation, member < 0 ? -1 : union_group->world_rank(member), -1, describe_blocked_call, this,
                policy()};
    }
    /// Returns the wait policy for operations on the communicator; none: that of the rank.
    std::optional<WaitPolicy> policy() const { return reported_as ? reported_as->policy() : wait_policy; }
    /// Returns the rank under which the program knows a member of `union_group`: its rank in the communicator on which
    /// the program made the call; in an intercommunicator, its rank in its own group.
    int reported_rank(int member) const;
    /// Returns a description for messages: the communicator's name, or its kind and size.
    std::string description() const;
    /// Returns the group to which the ranks of messages refer: the remote group of an intercommunicator, else the
    /// group.
    Group const& peers() const { return remote ? *remote : *group; }

    Process& process;
    std::uint64_t context;
    Ref<Info> info;
    std::optional<WaitPolicy> wait_policy;   ///< from the info key tutti_wait; none: the rank's
    Attributes attributes;
    std::unique_ptr<VirtualTopology> topology;          ///< null: none (MPI_UNDEFINED)
    std::unique_ptr<Neighborhood const> neighborhood;   ///< of the topology, created on first use
    std::unique_ptr<LayerState> collectives;            ///< owned by coll/, created with the communicator
    std::shared_ptr<BoundCalls> bound_calls;            ///< owned by mpi_h/; null: no call can be reused yet
    /// Description in reports, if the communicator belongs to another object such as a window; empty: its own.
    std::string report_name;
    /// The program's communicator of which this is an internal part or copy; null: itself.
    Comm const* reported_as = nullptr;

private:
    static void describe_blocked_call(void const* about, BlockedCall& blocked);
};

}   // namespace tutti
