// SPDX-License-Identifier: BSD-3-Clause
// Communicators: inquiry, names and hints (MPI 3.1, 6.4.1, 6.4.4, 6.6, 6.8; the parent: 10.3.2).
#include <algorithm>
#include <cstring>

#include "mpi_h/communicators/communicators.hpp"
#include "mpi_h/entry/library_state.hpp"

using namespace tutti;

namespace {

GroupComparison compare(Comm const& a, Comm const& b) {
    if (&a == &b) return GroupComparison::identical;
    if (a.is_inter() != b.is_inter()) return GroupComparison::unequal;
    GroupComparison members = tutti::compare(*a.group, *b.group);
    if (a.is_inter()) members = std::max(members, tutti::compare(*a.remote, *b.remote));   // the less similar result
    return members == GroupComparison::identical ? GroupComparison::congruent : members;
}

Group& remote_group(Call& call, MPI_Comm comm) {
    Comm& c = call.any_comm(comm);
    if (!c.is_inter()) fail(ErrorClass::comm, "comm is an intracommunicator: it has no remote group");
    return *c.remote;
}

}   // namespace

TUTTI_FUNCTION(Comm_size);
int PMPI_Comm_size(MPI_Comm comm, int* size) {
    return enter(args(comm, size), [&](Call& call) {
        Comm& c = call.any_comm(comm);
        call.pointer(size, "size");
        *size = c.size();
    });
}

TUTTI_FUNCTION(Comm_rank);
int PMPI_Comm_rank(MPI_Comm comm, int* rank) {
    return enter(args(comm, rank), [&](Call& call) {
        Comm& c = call.any_comm(comm);
        call.pointer(rank, "rank");
        *rank = c.rank();
    });
}

TUTTI_FUNCTION(Comm_compare);
int PMPI_Comm_compare(MPI_Comm comm1, MPI_Comm comm2, int* result) {
    return enter(args(comm1, comm2, result), [&](Call& call) {
        Comm &first = call.any_comm(comm1), &second = call.any_comm(comm2);
        call.pointer(result, "result");
        *result = number_of(compare(first, second));
    });
}

TUTTI_FUNCTION(Comm_group);
int PMPI_Comm_group(MPI_Comm comm, MPI_Group* group) {
    return enter(args(comm, group), [&](Call& call) {
        Comm& c = call.any_comm(comm);
        call.pointer(group, "group");
        *group = handle_of(c.group);
    });
}

TUTTI_FUNCTION(Comm_test_inter);
int PMPI_Comm_test_inter(MPI_Comm comm, int* flag) {
    return enter(args(comm, flag), [&](Call& call) {
        Comm& c = call.any_comm(comm);
        call.pointer(flag, "flag");
        *flag = c.is_inter();
    });
}

TUTTI_FUNCTION(Comm_remote_size);
int PMPI_Comm_remote_size(MPI_Comm comm, int* size) {
    return enter(args(comm, size), [&](Call& call) {
        Group& others = remote_group(call, comm);
        call.pointer(size, "size");
        *size = others.size();
    });
}

TUTTI_FUNCTION(Comm_remote_group);
int PMPI_Comm_remote_group(MPI_Comm comm, MPI_Group* group) {
    return enter(args(comm, group), [&](Call& call) {
        Group& others = remote_group(call, comm);
        call.pointer(group, "group");
        *group = handle_of(Ref<Group>::share(&others));
    });
}

/// Always MPI_COMM_NULL, because processes cannot be spawned (there is no MPI_Comm_spawn).
TUTTI_FUNCTION(Comm_get_parent);
int PMPI_Comm_get_parent(MPI_Comm* parent) {
    return enter(args(parent), [&](Call& call) {
        call.pointer(parent, "parent");
        *parent = MPI_COMM_NULL;
    });
}

TUTTI_FUNCTION(Comm_set_name);
int PMPI_Comm_set_name(MPI_Comm comm, char const* name) {
    return enter(args(comm, name), [&](Call& call) {
        Comm& c = call.any_comm(comm);
        call.pointer(name, "comm_name");
        coll::rename(c, {name, strnlen(name, MPI_MAX_OBJECT_NAME - 1)});
    });
}

TUTTI_FUNCTION(Comm_get_name);
int PMPI_Comm_get_name(MPI_Comm comm, char* name, int* length) {
    return enter(args(comm, name, length), [&](Call& call) {
        Comm const* const c = comm == MPI_COMM_NULL ? nullptr : &call.any_comm(comm);
        call.pointer(name, "comm_name");
        call.pointer(length, "resultlen");
        *length = copy_text(c ? c->name : "MPI_COMM_NULL", name, MPI_MAX_OBJECT_NAME);
    });
}

/// Hints that are not in `info` are unchanged.
TUTTI_FUNCTION(Comm_set_info);
int PMPI_Comm_set_info(MPI_Comm comm, MPI_Info info) {
    return enter(args(comm, info), [&](Call& call) {
        Comm& c = call.any_comm(comm);
        set_hints(c, call.info(info));
    });
}

TUTTI_FUNCTION(Comm_get_info);
int PMPI_Comm_get_info(MPI_Comm comm, MPI_Info* info) {
    return enter(args(comm, info), [&](Call& call) {
        Comm& c = call.any_comm(comm);
        call.pointer(info, "info_used");
        *info = info_used(c.info.get());
    });
}
