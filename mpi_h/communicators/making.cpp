// SPDX-License-Identifier: BSD-3-Clause
// Communicators: making and freeing (MPI 3.1, 6.4.2 and 6.4.3), disconnecting (10.5.4).
#include "coll/call/collectives.hpp"
#include "coll/comm/derive.hpp"
#include "mpi_h/communicators/objects.hpp"
#include "p2p/p2p.hpp"

using namespace tutti;

namespace {

/// Runs the copy callbacks. When one fails the duplicate goes away again, with its delete callbacks.
MPI_Comm with_attributes(Comm& parent, Ref<Comm> made) {
    Comm& child = *made;
    MPI_Comm handle = handle_of(std::move(made));
    try {
        parent.attributes.copy_to(parent, child.attributes);
    } catch (...) {   // an Error, or what a callback of the program throws
        try {
            child.attributes.clear(child);
        } catch (...) {   // the first failure is the one to report
        }
        library().tables.comms.remove(handle);
        throw;
    }
    return handle;
}

/// The members of `handle`, checked to be ranks of `parent`.
Ref<Group> part_of(Call& call, Comm& parent, MPI_Group handle) {
    Group& group = call.group(handle);
    for (int world : group.world_ranks())
        if (parent.group->rank_of(world) < 0)
            fail(ErrorClass::group, "group contains world rank ", world, ", which is not in ",
                 parent.inter() ? "comm's local group" : "comm");
    return Ref<Group>::share(&group);
}

std::optional<int> checked_color(int color) {
    if (color == MPI_UNDEFINED) return std::nullopt;
    if (color < 0) fail(ErrorClass::arg, "color is ", color, " but must be at least 0, or MPI_UNDEFINED");
    return color;
}

/// A communicator of the program's own making.
Comm& freeable(Call& call, MPI_Comm const* comm) {
    call.pointer(comm, "comm");
    Comm& c = call.any_comm(*comm);
    if (c.predefined) fail(ErrorClass::comm, "comm is ", c.name, ", which cannot be freed");
    return c;
}

void forget(Call& call, Comm& c, MPI_Comm* comm) {
    if (c.collectives) coll::compare_last_calls(c);
    c.attributes.clear(c);
    p2p::forget_buffer(c);
    call.on = nullptr;
    note_freed(*comm);
    library().tables.comms.remove(*comm);
    *comm = MPI_COMM_NULL;
}

}   // namespace

TUTTI_FUNCTION(Comm_dup)
int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm* newcomm) {
    return enter("MPI_Comm_dup", given(comm, newcomm), [&](Call& call) {
        Comm& parent = call.comm(comm);
        call.pointer(newcomm, "newcomm");
        *newcomm = MPI_COMM_NULL;
        coll::note(parent, call.name);
        *newcomm = with_attributes(parent, coll::duplicate(parent));
    });
}

TUTTI_FUNCTION(Comm_dup_with_info)
int PMPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm) {
    return enter("MPI_Comm_dup_with_info", given(comm, info, newcomm), [&](Call& call) {
        Comm& parent = call.comm(comm);
        call.pointer(newcomm, "newcomm");
        *newcomm = MPI_COMM_NULL;
        Info const* hints = info == MPI_INFO_NULL ? nullptr : &call.info(info);
        coll::note(parent, call.name);
        Ref<Comm> child = coll::duplicate(parent);
        if (hints) take_hints(*child, *hints);
        *newcomm = with_attributes(parent, std::move(child));
    });
}

/// The handle is there at once; the communicator behind it when the request is complete (MPI 3.1, 6.4.2).
static void duplicate_later(Call& call, MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm, MPI_Request* request) {
    Comm& parent = call.comm(comm);
    call.pointer(newcomm, "newcomm");
    call.pointer(request, "request");
    *newcomm = MPI_COMM_NULL;
    *request = MPI_REQUEST_NULL;
    Ref<Info> hints;
    if (info != MPI_INFO_NULL) {
        hints = Ref<Info>::adopt(new Info);
        keep_hints(*hints, call.info(info));
    }
    coll::note(parent, call.name);
    auto [child, made] = coll::duplicate_later(parent, std::move(hints));
    *newcomm = with_attributes(parent, std::move(child));
    *request = library().tables.requests.add(made.detach());
}

TUTTI_FUNCTION(Comm_idup)
int PMPI_Comm_idup(MPI_Comm comm, MPI_Comm* newcomm, MPI_Request* request) {
    return enter("MPI_Comm_idup", given(comm, newcomm, request),
                 [&](Call& call) { duplicate_later(call, comm, MPI_INFO_NULL, newcomm, request); });
}

TUTTI_FUNCTION(Comm_idup_with_info)
int PMPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm, MPI_Request* request) {
    return enter("MPI_Comm_idup_with_info", given(comm, info, newcomm, request),
                 [&](Call& call) { duplicate_later(call, comm, info, newcomm, request); });
}

TUTTI_FUNCTION(Comm_create)
int PMPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* newcomm) {
    return enter("MPI_Comm_create", given(comm, group, newcomm), [&](Call& call) {
        Comm& parent = call.comm(comm);
        call.pointer(newcomm, "newcomm");
        *newcomm = MPI_COMM_NULL;
        Ref<Group> members = part_of(call, parent, group);
        coll::note(parent, call.name);
        *newcomm = handle_of(coll::create(parent, std::move(members)));
    });
}

TUTTI_FUNCTION(Comm_create_group)
int PMPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* newcomm) {
    return enter("MPI_Comm_create_group", given(comm, group, tag, newcomm), [&](Call& call) {
        Comm& parent = call.intracomm(comm);
        call.pointer(newcomm, "newcomm");
        call.tag(tag);
        *newcomm = MPI_COMM_NULL;
        Ref<Group> members = part_of(call, parent, group);
        if (members->rank() < 0) return;
        *newcomm = handle_of(coll::create_group(parent, std::move(members), tag));
        coll::forget_order(parent);
    });
}

TUTTI_FUNCTION(Comm_split)
int PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* newcomm) {
    return enter("MPI_Comm_split", given(comm, color, key, newcomm), [&](Call& call) {
        Comm& parent = call.comm(comm);
        call.pointer(newcomm, "newcomm");
        std::optional<int> chosen = checked_color(color);
        *newcomm = MPI_COMM_NULL;
        coll::note(parent, call.name);
        *newcomm = handle_of(coll::split(parent, chosen, key));
    });
}

/// Deletes the attributes at once, while callbacks may still use the communicator; operations that are under way keep
/// the rest of it until they are complete.
TUTTI_FUNCTION(Comm_free)
int PMPI_Comm_free(MPI_Comm* comm) {
    return enter("MPI_Comm_free", given(comm), [&](Call& call) {
        Comm& c = freeable(call, comm);
        if (p2p::Checks* checks = p2p::engine(c.process).checks()) checks->communicator_freed(c, call.name);
        forget(call, c, comm);
    });
}

TUTTI_FUNCTION(Comm_disconnect)
int PMPI_Comm_disconnect(MPI_Comm* comm) {
    return enter("MPI_Comm_disconnect", given(comm), [&](Call& call) {
        Comm& c = freeable(call, comm);
        call.comm(*comm);   // which has been made
        if (p2p::Checks* checks = p2p::engine(c.process).checks()) checks->communicator_disconnected(c, call.name);
        // As in MPI_Finalize: until the first barrier others may ask for messages that this rank has offered.
        for (int round = 0; round < 2; ++round) {
            p2p::finish(c.process, call.name);
            coll::barrier(c);
        }
        p2p::flush(c.process, p2p::buffer_of(c), call.name);
        forget(call, c, comm);
    });
}
