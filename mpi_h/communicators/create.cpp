// SPDX-License-Identifier: BSD-3-Clause
// Creating and freeing communicators: intercommunicators (MPI 3.1, 6.6.2), duplicates and subsets (6.4.2, 6.4.3),
// disconnecting (10.5.4), splitting by hardware (MPI 4.1, 7.4.2). The objects are created in coll/comm/.
#include "coll/comm/create.hpp"
#include "coll/call/collectives.hpp"
#include "coll/comm/derive.hpp"
#include "mpi_h/communicators/communicators.hpp"
#include "p2p/p2p.hpp"
#include "runtime/process.hpp"

using namespace tutti;

namespace {

void check_leader(int value, Group const& group, char const* argument, char const* of) {
    if (value < 0 || value >= group.size())
        fail(ErrorClass::rank, argument, " is ", value, " but ", of, " has ", group.size(), " ranks: 0 to ",
             group.size() - 1);
}

/// Checks peer_comm, remote_leader and tag, which are significant at the local leader only.
coll::Bridge checked_bridge(Call& call, Comm& local, MPI_Comm peer_comm, int remote_leader, int tag) {
    Comm* peer = library().tables.comms.find(peer_comm);
    if (!peer)
        fail(ErrorClass::comm, peer_comm == MPI_COMM_NULL ? "peer_comm is MPI_COMM_NULL at the local leader"
                                                          : "peer_comm is not a communicator");
    check_leader(remote_leader, peer->peers(), "remote_leader", "peer_comm");
    if (local.group->rank_of(peer->peers().world_rank(remote_leader)) >= 0)
        fail(ErrorClass::rank, "remote_leader is ", remote_leader, ", which is in local_comm, but the groups must be ",
             "disjoint");
    call.tag(tag);
    return {peer, remote_leader, tag};
}

}   // namespace

/// A leader with invalid arguments notifies its group, so that no rank waits for it.
TUTTI_FUNCTION(Intercomm_create);
int PMPI_Intercomm_create(MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader, int tag,
                          MPI_Comm* newintercomm) {
    return enter(args(local_comm, local_leader, peer_comm, remote_leader, tag, newintercomm), [&](Call& call) {
        Comm& local = call.intracomm(local_comm, "local_comm");
        call.pointer(newintercomm, "newintercomm");
        check_leader(local_leader, *local.group, "local_leader", "local_comm");
        *newintercomm = MPI_COMM_NULL;
        std::optional<coll::Bridge> bridge;
        std::optional<Error> argument_error;
        try {
            if (local.rank() == local_leader) bridge = checked_bridge(call, local, peer_comm, remote_leader, tag);
        } catch (Error const& error) { argument_error = error; }
        try {
            coll::record_call(local, call.function, coll::WaitsFor::other_ranks);
            *newintercomm = handle_of(coll::create_intercomm(local, local_leader, bridge));
        } catch (Error const&) {
            if (argument_error) throw *argument_error;
            throw;
        }
    });
}

TUTTI_FUNCTION(Intercomm_merge);
int PMPI_Intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm* newintracomm) {
    return enter(args(intercomm, high, newintracomm), [&](Call& call) {
        Comm& inter = call.comm(intercomm);
        if (!inter.is_inter()) fail(ErrorClass::comm, "intercomm is an intracommunicator");
        call.pointer(newintracomm, "newintracomm");
        *newintracomm = MPI_COMM_NULL;
        coll::record_call(inter, call.function);
        *newintracomm = handle_of(coll::merge_intercomm(inter, high != 0));
    });
}

// Creating and freeing communicators (MPI 3.1, 6.4.2 and 6.4.3); disconnecting (10.5.4).

using namespace tutti;

namespace {

/// Calls the copy callbacks. If one fails, frees the duplicate again and calls its delete callbacks.
MPI_Comm with_attributes(Comm& parent, Ref<Comm> made) {
    Comm& child = *made;
    MPI_Comm handle = handle_of(std::move(made));
    try {
        parent.attributes.copy_to(parent, child.attributes);
    } catch (...) {   // an Error, or an exception of the program's callback
        try {
            child.attributes.clear(child);
        } catch (...) {   // the first failure is reported
        }
        library().tables.comms.remove(handle);
        throw;
    }
    return handle;
}

/// Returns the members of `handle`, which must be ranks of `parent`.
Ref<Group> checked_subgroup(Call& call, Comm& parent, MPI_Group handle) {
    Group& group = call.group(handle);
    for (int world : group.world_ranks())
        if (parent.group->rank_of(world) < 0)
            fail(ErrorClass::group, "group contains world rank ", world, ", which is not in ",
                 parent.is_inter() ? "comm's local group" : "comm");
    return Ref<Group>::share(&group);
}

std::optional<int> checked_color(int color) {
    if (color == MPI_UNDEFINED) return std::nullopt;
    if (color < 0) fail(ErrorClass::arg, "color is ", color, " but must be at least 0, or MPI_UNDEFINED");
    return color;
}

/// Returns a communicator that the program may free.
Comm& freeable(Call& call, MPI_Comm const* comm) {
    call.pointer(comm, "comm");
    Comm& c = call.any_comm(*comm);
    if (c.predefined) fail(ErrorClass::comm, "comm is ", c.name, ", which cannot be freed");
    return c;
}

void free_handle(Call& call, Comm& c, MPI_Comm* comm) {
    if (c.collectives) coll::compare_last_calls(c);
    c.attributes.clear(c);
    p2p::release_buffer(c);
    call.error_object = nullptr;
    record_freed(*comm);
    library().tables.comms.remove(*comm);
    *comm = MPI_COMM_NULL;
}

}   // namespace

TUTTI_FUNCTION(Comm_dup);
int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm* newcomm) {
    return enter(args(comm, newcomm), [&](Call& call) {
        Comm& parent = call.comm(comm);
        call.pointer(newcomm, "newcomm");
        *newcomm = MPI_COMM_NULL;
        coll::record_call(parent, call.function);
        *newcomm = with_attributes(parent, coll::duplicate(parent));
    });
}

TUTTI_FUNCTION(Comm_dup_with_info);
int PMPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm) {
    return enter(args(comm, info, newcomm), [&](Call& call) {
        Comm& parent = call.comm(comm);
        call.pointer(newcomm, "newcomm");
        *newcomm = MPI_COMM_NULL;
        Info const* hints = info == MPI_INFO_NULL ? nullptr : &call.info(info);
        coll::record_call(parent, call.function);
        Ref<Comm> child = coll::duplicate(parent);
        if (hints) set_hints(*child, *hints);
        *newcomm = with_attributes(parent, std::move(child));
    });
}

/// The handle is valid immediately, the communicator when the request is complete (MPI 3.1, 6.4.2).
static void duplicate_nonblocking(Call& call, MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm, MPI_Request* request) {
    Comm& parent = call.comm(comm);
    call.pointer(newcomm, "newcomm");
    call.pointer(request, "request");
    *newcomm = MPI_COMM_NULL;
    *request = MPI_REQUEST_NULL;
    Ref<Info> hints;
    if (info != MPI_INFO_NULL) {
        hints = Ref<Info>::adopt(new Info);
        store_hints(*hints, call.info(info));
    }
    coll::record_call(parent, call.function, coll::WaitsFor::no_rank);
    auto [child, made] = coll::duplicate_nonblocking(parent, std::move(hints));
    *newcomm = with_attributes(parent, std::move(child));
    *request = library().tables.requests.add(made.detach());
}

TUTTI_FUNCTION(Comm_idup);
int PMPI_Comm_idup(MPI_Comm comm, MPI_Comm* newcomm, MPI_Request* request) {
    return enter(args(comm, newcomm, request),
                 [&](Call& call) { duplicate_nonblocking(call, comm, MPI_INFO_NULL, newcomm, request); });
}

TUTTI_FUNCTION(Comm_idup_with_info);
int PMPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm, MPI_Request* request) {
    return enter(args(comm, info, newcomm, request),
                 [&](Call& call) { duplicate_nonblocking(call, comm, info, newcomm, request); });
}

TUTTI_FUNCTION(Comm_create);
int PMPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* newcomm) {
    return enter(args(comm, group, newcomm), [&](Call& call) {
        Comm& parent = call.comm(comm);
        call.pointer(newcomm, "newcomm");
        *newcomm = MPI_COMM_NULL;
        Ref<Group> members = checked_subgroup(call, parent, group);
        coll::record_call(parent, call.function);
        *newcomm = handle_of(coll::create(parent, std::move(members)));
    });
}

TUTTI_FUNCTION(Comm_create_group);
int PMPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* newcomm) {
    return enter(args(comm, group, tag, newcomm), [&](Call& call) {
        Comm& parent = call.intracomm(comm);
        call.pointer(newcomm, "newcomm");
        call.tag(tag);
        *newcomm = MPI_COMM_NULL;
        Ref<Group> members = checked_subgroup(call, parent, group);
        if (members->rank() < 0) return;
        *newcomm = handle_of(coll::create_group(parent, std::move(members), tag));
        coll::mark_order_unknown(parent);
    });
}

TUTTI_FUNCTION(Comm_split);
int PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* newcomm) {
    return enter(args(comm, color, key, newcomm), [&](Call& call) {
        Comm& parent = call.comm(comm);
        call.pointer(newcomm, "newcomm");
        std::optional<int> chosen = checked_color(color);
        *newcomm = MPI_COMM_NULL;
        coll::record_call(parent, call.function);
        *newcomm = handle_of(coll::split(parent, chosen, key));
    });
}

/// Deletes the attributes immediately, while callbacks may still use the communicator; operations in flight keep the
/// rest of it until they complete.
TUTTI_FUNCTION(Comm_free);
int PMPI_Comm_free(MPI_Comm* comm) {
    return enter(args(comm), [&](Call& call) {
        Comm& c = freeable(call, comm);
        if (p2p::Checks* checks = p2p::engine(c.process).checks()) checks->on_comm_free(c, call.function);
        free_handle(call, c, comm);
    });
}

TUTTI_FUNCTION(Comm_disconnect);
int PMPI_Comm_disconnect(MPI_Comm* comm) {
    return enter(args(comm), [&](Call& call) {
        Comm& c = freeable(call, comm);
        call.comm(*comm);   // throws if it is still being created
        if (p2p::Checks* checks = p2p::engine(c.process).checks()) checks->on_comm_disconnect(c, call.function);
        // As in MPI_Finalize: until the first barrier, other ranks may request messages that this rank has offered.
        for (int round = 0; round < 2; ++round) {
            p2p::drain_sends(c.process, call.name());
            coll::barrier(c);
        }
        p2p::flush(c.process, p2p::buffer_of(c), call.name());
        free_handle(call, c, comm);
    });
}

// Hardware: splitting communicators by it (MPI 3.1, 6.4.2; MPI 4.1, 7.4.2), and the hardware that this process is bound
// to (MPI 4.1, 9.1.2). Its kinds have hwloc's names, "hwloc://NUMANode", or those of --bind-to.

namespace tutti {
namespace {

using Scope = coll::SharedResource::Scope;

constexpr char hardware_key[] = "mpi_hw_resource_type", set_key[] = "mpi_pset_name";

/// Returns the hardware that an info names; nothing if it names none that is supported.
coll::SharedResource named_hardware(Info const* info) {
    std::string const* name = info ? info->find(hardware_key) : nullptr;
    if (!name) return {};
    if (*name == "mpi_shared_memory") return {Scope::node};
    auto const unit = topo::hardware_named(*name);
    return unit ? coll::SharedResource{Scope::unit, *unit} : coll::SharedResource{};
}

/// Returns the hardware, or one of the two process sets that exist without sessions.
coll::SharedResource named_resource(Info const* info) {
    std::string const* set = info ? info->find(set_key) : nullptr;
    if (!set || info->find(hardware_key)) return named_hardware(info);
    return {*set == "mpi://WORLD" ? Scope::world : *set == "mpi://SELF" ? Scope::self : Scope::nothing};
}

coll::SharedResource requested_resource(int split_type, Info const* info) {
    switch (split_type) {
    case MPI_UNDEFINED: return {};
    case MPI_COMM_TYPE_SHARED: return {Scope::node};
    case MPI_COMM_TYPE_HW_GUIDED: return named_hardware(info);
    case MPI_COMM_TYPE_HW_UNGUIDED: return {Scope::any_unit};
    case MPI_COMM_TYPE_RESOURCE_GUIDED: return named_resource(info);
    }
    fail(ErrorClass::arg, "split_type is ", split_type,
         " but must be MPI_COMM_TYPE_SHARED, MPI_COMM_TYPE_HW_GUIDED, "
         "MPI_COMM_TYPE_HW_UNGUIDED, MPI_COMM_TYPE_RESOURCE_GUIDED or MPI_UNDEFINED");
}

}   // namespace
}   // namespace tutti

using namespace tutti;

/// The new communicator's info names what its members share, so that a program that left the choice open can read it.
TUTTI_FUNCTION(Comm_split_type);
int PMPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm* newcomm) {
    return enter(args(comm, split_type, key, info, newcomm), [&](Call& call) {
        Comm& parent = call.comm(comm);
        call.pointer(newcomm, "newcomm");
        Info const* hints = info == MPI_INFO_NULL ? nullptr : &call.info(info);
        coll::SharedResource const shared = requested_resource(split_type, hints);
        *newcomm = MPI_COMM_NULL;
        coll::record_call(parent, call.function);
        auto [child, unit] = coll::split_by_type(parent, shared, key);
        if (unit) {
            child->info = Ref<Info>::adopt(new Info);
            child->info->set(hardware_key, std::string(topo::hwloc_name(*unit)));
        }
        *newcomm = handle_of(std::move(child));
    });
}

TUTTI_FUNCTION(Get_hw_resource_info);
int PMPI_Get_hw_resource_info(MPI_Info* hw_info) {
    return enter(args(hw_info), [&](Call& call) {
        call.pointer(hw_info, "hw_info");
        topo::Restriction const binding = hw_restriction(*library().process);
        auto made = Ref<Info>::adopt(new Info);
        for (std::size_t i = 0; i < binding.size(); ++i)
            made->set(std::string(topo::hwloc_name(topo::hardware[i])), binding[i] >= 0 ? "true" : "false");
        *hw_info = handle_of(std::move(made));
    });
}
