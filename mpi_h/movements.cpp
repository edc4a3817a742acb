// SPDX-License-Identifier: BSD-3-Clause
// The blocking collectives that move data: gather, scatter, allgather, alltoall and their v and w forms (MPI 3.1, 5.5
// to 5.8). Arguments that MPI calls not significant at a rank are not looked at there.
#include <vector>

#include "coll/collectives.hpp"
#include "mpi_h/buffers.hpp"

namespace tutti {
namespace {

/// One side of a call, named for its messages.
struct Side {
    char const *buffer, *count, *type;
};
constexpr Side send_side{"sendbuf", "sendcount", "sendtype"}, receive_side{"recvbuf", "recvcount", "recvtype"};
constexpr Side send_sides{"sendbuf", "sendcounts", "sendtype"}, receive_sides{"recvbuf", "recvcounts", "recvtype"};

coll::Buffer message(Call& call, void const* address, int count, MPI_Datatype type, Side const& side) {
    return tutti::message(call, address, count, type, side.buffer, side.count, side.type);
}

coll::Parts equal_parts(Call& call, void const* address, int count, MPI_Datatype type, Side const& side) {
    coll::Buffer const one = message(call, address, count, type, side);
    return coll::Parts::regular(one.address, one.count, *one.type);
}

/// The v form.
coll::Parts parts(Call& call, Comm const& comm, void const* address, int const* counts, int const* displs,
                  MPI_Datatype type, Side const& side) {
    Datatype& t = call.type(type, side.type);
    void* base = own_address(address, side.buffer);
    call.pointer(counts, side.count);
    call.pointer(displs, "displs");
    for (int i = 0; i < comm.size(); ++i) {
        call.count(counts[i], side.count);
        call.buffer(base, counts[i], t, side.buffer);
    }
    return coll::Parts::irregular(base, counts, displs, t);
}

/// The w form; `types` is filled here and must outlive the parts.
coll::Parts typed_parts(Call& call, Comm const& comm, void const* address, int const* counts, int const* displs,
                        MPI_Datatype const* handles, std::vector<Datatype const*>& types, Side const& side) {
    void* base = own_address(address, side.buffer);
    call.pointer(counts, side.count);
    call.pointer(displs, "displs");
    call.pointer(handles, side.type);
    types.reserve(static_cast<std::size_t>(comm.size()));
    for (int i = 0; i < comm.size(); ++i) {
        call.count(counts[i], side.count);
        types.push_back(&call.type(handles[i], side.type));   // of empty parts, too: MPI wants a valid type
    }
    return coll::Parts::typed(base, counts, displs, types.data());
}

template <class Args>
void set_root(Args& args, Call const& call, Comm const& comm, int root) {
    call.root(comm, root);
    args.root = root;
}

/// Gather: `parts()` makes what the root receives.
template <class MakeParts>
void gather(Call& call, Comm& comm, void const* sendbuf, int sendcount, MPI_Datatype sendtype, int root, bool equal,
            MakeParts&& parts) {
    coll::RootedArgs args{};
    set_root(args, call, comm, root);
    args.equal = equal;
    bool const at_root = comm.rank() == root;
    if (at_root) args.parts = parts();
    args.in_place_at_root = at_root && is_in_place(sendbuf);
    args.mine = args.in_place_at_root ? args.parts[root] : message(call, sendbuf, sendcount, sendtype, send_side);
    if (at_root && !args.in_place_at_root) no_alias(args.mine, args.parts[root]);
    args.largest = args.mine.bytes();
    coll::gather(comm, args);
}

template <class MakeParts>
void scatter(Call& call, Comm& comm, void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, bool equal,
             MakeParts&& parts) {
    coll::RootedArgs args{};
    set_root(args, call, comm, root);
    args.equal = equal;
    bool const at_root = comm.rank() == root;
    if (at_root) args.parts = parts();
    args.in_place_at_root = at_root && is_in_place(recvbuf);
    args.mine = args.in_place_at_root ? args.parts[root] : message(call, recvbuf, recvcount, recvtype, receive_side);
    if (at_root && !args.in_place_at_root) no_alias(args.parts[root], args.mine);
    args.largest = args.mine.bytes();
    coll::scatter(comm, args);
}

void allgather(Call& call, Comm& comm, void const* sendbuf, int sendcount, MPI_Datatype sendtype,
               coll::Parts const& parts) {
    coll::AllgatherArgs args{};
    args.parts = parts;
    args.is_in_place = is_in_place(sendbuf);
    args.mine = args.is_in_place ? parts[comm.rank()] : message(call, sendbuf, sendcount, sendtype, send_side);
    if (!args.is_in_place) no_alias(args.mine, parts[comm.rank()]);
    for (int i = 0; i < comm.size(); ++i) args.largest = std::max(args.largest, parts[i].bytes());
    coll::allgather(comm, args);
}

/// Alltoall: `send()` makes what is sent unless that is what is received.
template <class MakeParts>
void alltoall(Comm& comm, void const* sendbuf, coll::Parts const& receive, bool equal, MakeParts&& send) {
    coll::AlltoallArgs args{};
    args.receive = receive;
    args.is_in_place = is_in_place(sendbuf);
    args.equal = equal;
    args.send = args.is_in_place ? receive : send();
    if (!args.is_in_place) no_alias(args.send[comm.rank()], args.receive[comm.rank()]);
    args.each = equal ? args.receive[0].bytes() : 0;
    coll::alltoall(comm, args);
}

}  // namespace
}  // namespace tutti

using namespace tutti;

TUTTI_FUNCTION(Gather)
int PMPI_Gather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                MPI_Datatype recvtype, int root, MPI_Comm comm) {
    return enter("MPI_Gather", [&](Call& call) {
        gather(call, call.comm(comm), sendbuf, sendcount, sendtype, root, true,
               [&] { return equal_parts(call, recvbuf, recvcount, recvtype, receive_side); });
    });
}

TUTTI_FUNCTION(Gatherv)
int PMPI_Gatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                 const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm) {
    return enter("MPI_Gatherv", [&](Call& call) {
        Comm& c = call.comm(comm);
        gather(call, c, sendbuf, sendcount, sendtype, root, false,
               [&] { return parts(call, c, recvbuf, recvcounts, displs, recvtype, receive_sides); });
    });
}

TUTTI_FUNCTION(Scatter)
int PMPI_Scatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                 MPI_Datatype recvtype, int root, MPI_Comm comm) {
    return enter("MPI_Scatter", [&](Call& call) {
        scatter(call, call.comm(comm), recvbuf, recvcount, recvtype, root, true,
                [&] { return equal_parts(call, sendbuf, sendcount, sendtype, send_side); });
    });
}

TUTTI_FUNCTION(Scatterv)
int PMPI_Scatterv(const void* sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype, void* recvbuf,
                  int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
    return enter("MPI_Scatterv", [&](Call& call) {
        Comm& c = call.comm(comm);
        scatter(call, c, recvbuf, recvcount, recvtype, root, false,
                [&] { return parts(call, c, sendbuf, sendcounts, displs, sendtype, send_sides); });
    });
}

TUTTI_FUNCTION(Allgather)
int PMPI_Allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                   MPI_Datatype recvtype, MPI_Comm comm) {
    return enter("MPI_Allgather", [&](Call& call) {
        Comm& c = call.comm(comm);
        allgather(call, c, sendbuf, sendcount, sendtype, equal_parts(call, recvbuf, recvcount, recvtype, receive_side));
    });
}

TUTTI_FUNCTION(Allgatherv)
int PMPI_Allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                    const int displs[], MPI_Datatype recvtype, MPI_Comm comm) {
    return enter("MPI_Allgatherv", [&](Call& call) {
        Comm& c = call.comm(comm);
        allgather(call, c, sendbuf, sendcount, sendtype,
                  parts(call, c, recvbuf, recvcounts, displs, recvtype, receive_sides));
    });
}

TUTTI_FUNCTION(Alltoall)
int PMPI_Alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                  MPI_Datatype recvtype, MPI_Comm comm) {
    return enter("MPI_Alltoall", [&](Call& call) {
        Comm& c = call.comm(comm);
        alltoall(c, sendbuf, equal_parts(call, recvbuf, recvcount, recvtype, receive_side), true,
                 [&] { return equal_parts(call, sendbuf, sendcount, sendtype, send_side); });
    });
}

TUTTI_FUNCTION(Alltoallv)
int PMPI_Alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                   void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm) {
    return enter("MPI_Alltoallv", [&](Call& call) {
        Comm& c = call.comm(comm);
        alltoall(c, sendbuf, parts(call, c, recvbuf, recvcounts, rdispls, recvtype, receive_sides), false,
                 [&] { return parts(call, c, sendbuf, sendcounts, sdispls, sendtype, send_sides); });
    });
}

TUTTI_FUNCTION(Alltoallw)
int PMPI_Alltoallw(const void* sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[],
                   void* recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[],
                   MPI_Comm comm) {
    return enter("MPI_Alltoallw", [&](Call& call) {
        Comm& c = call.comm(comm);
        std::vector<Datatype const*> send_types, receive_types;
        alltoall(c, sendbuf,
                 typed_parts(call, c, recvbuf, recvcounts, rdispls, recvtypes, receive_types, receive_sides), false,
                 [&] { return typed_parts(call, c, sendbuf, sendcounts, sdispls, sendtypes, send_types, send_sides); });
    });
}
