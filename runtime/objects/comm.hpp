// SPDX-License-Identifier: BSD-3-Clause
// A communicator: a group (an intercommunicator: two), a context of its own for messages and for collectives, and what
// users hang on it.
// Making one is a collective operation and lives in coll/; this is the finished thing.
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
#include "runtime/topologies/neighborhood.hpp"
#include "runtime/topologies/virtual_topology.hpp"
#include "runtime/wait/reason.hpp"

namespace tutti {

class Process;

/// What a layer above keeps per communicator (coll/ its flags, slots and choices).
struct Extension {
    virtual ~Extension() = default;
    /// The program's last collective call on the communicator, with its arguments; empty: not known.
    virtual std::string call_in_words() const { return {}; }
};

/// Who is in a communicator. Of an intercommunicator's two groups, this process's is the local one.
struct Members {
    Members(Ref<Group> all) : group(std::move(all)), union_group(group) {}
    /// `local_first`: all processes of both groups agree on which of them comes first in `union_group`.
    Members(Ref<Group> local, Ref<Group> others, bool local_first);

    Ref<Group> group;         ///< what ranks of this process's side are ranks of
    Ref<Group> remote;        ///< the other side; null: an intracommunicator, which has none
    Ref<Group> union_group;   ///< everybody, in an order that is the same everywhere: what collectives go over
    int remote_at = 0;        ///< where the remote group begins in the union

    bool inter() const { return static_cast<bool>(remote); }
    /// `same`: the same members as the union group's in the same order, in an object that others have, too.
    void share_group(Ref<Group> same) {
        if (!inter()) group = same;
        union_group = std::move(same);
    }
    /// Of an intercommunicator: does the local group come first in the union?
    bool comes_first() const { return remote_at > 0; }
    /// Of an intercommunicator: where the second group begins in the union; else 0.
    int first_group_size() const { return comes_first() ? remote_at : inter() ? remote->size() : 0; }
};

class Comm final : public HasErrhandler, public Members {
public:
    /// `context`: unique in the job, made by one of the members (see Process::fresh_context); 0 while MPI_Comm_idup is
    /// under way.
    Comm(Process& p, Members members, std::uint64_t context_id)
        : Members(std::move(members)), process(p), context(context_id) {}

    int rank() const { return group->rank(); }
    int size() const { return group->size(); }
    int world_rank(int rank) const { return group->world_rank(rank); }
    /// Why this rank waits in a collective operation on it. `member`: of the union group, without whose act the wait
    /// does not end, −1: several, or nobody that can be named.
    Reason reason(char const* operation, int member = -1) const {
        return {operation, member < 0 ? -1 : union_group->world_rank(member), -1, tell_call, this, policy()};
    }
    /// How to wait on it; none: as the rank does.
    std::optional<WaitPolicy> policy() const { return told_as ? told_as->policy() : wait_policy; }
    /// By which number the program knows a member of `union_group`: as a rank of the communicator on which it has
    /// called, in an intercommunicator of the member's own group there.
    int reported_rank(int member) const;
    /// For sentences: its name, or what can be said of it.
    std::string words() const;
    /// Whose ranks messages name: the remote group's in an intercommunicator.
    Group const& peers() const { return remote ? *remote : *group; }

    Process& process;
    std::uint64_t context;
    Ref<Info> info;
    std::optional<WaitPolicy> wait_policy;   ///< of the info key tutti_wait; none: the rank's
    Attributes attributes;
    std::unique_ptr<VirtualTopology> topology;          ///< null: none (MPI_UNDEFINED)
    std::unique_ptr<Neighborhood const> neighborhood;   ///< of the topology, made when it is first asked for
    std::unique_ptr<Extension> collectives;             ///< owned by coll/, made with the communicator
    std::string described_as;        ///< how reports name what the program has in its place: a window; empty: itself
    Comm const* told_as = nullptr;   ///< the program's, of which this is the library's own part or copy; null: itself

private:
    static void tell_call(void const* comm, Blockage& blockage);
};

}   // namespace tutti
