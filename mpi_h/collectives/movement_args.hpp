// SPDX-License-Identifier: BSD-3-Clause
// Arguments of the collectives that move data, in their plain, v and w forms, checked and converted to objects, for all
// three forms of the call (MPI 3.1, 5.5 to 5.8 and 5.12; MPI 4.0, 6.13). Each side becomes parts, one for each rank or
// edge. Arguments that are not significant at a rank are not checked there.
#pragma once

#include <vector>

#include "mpi_h/collectives/call_forms.hpp"
#include "mpi_h/collectives/inter_args.hpp"

namespace tutti {

/// Names of one side's arguments, for messages.
struct Side {
    char const *buffer, *count, *type, *displs = "";
};
inline constexpr Side send_side{"sendbuf", "sendcount", "sendtype"}, receive_side{"recvbuf", "recvcount", "recvtype"};
inline constexpr Side send_sides{"sendbuf", "sendcounts", "sendtype", "displs"};
inline constexpr Side receive_sides{"recvbuf", "recvcounts", "recvtype", "displs"};
inline constexpr Side exchanged_send_sides{"sendbuf", "sendcounts", "sendtype", "sdispls"};
inline constexpr Side exchanged_receive_sides{"recvbuf", "recvcounts", "recvtype", "rdispls"};
inline constexpr Side typed_send_sides{"sendbuf", "sendcounts", "sendtypes", "sdispls"};
inline constexpr Side typed_receive_sides{"recvbuf", "recvcounts", "recvtypes", "rdispls"};

inline coll::Buffer message(Call& call, void const* address, int count, MPI_Datatype type, Side const& side) {
    return tutti::message(call, address, count, type, side.buffer, side.count, side.type);
}

/// `n` contiguous parts of equal size.
inline coll::Parts equal_parts(Call& call, int n, void const* address, int count, MPI_Datatype type, Side const& side) {
    coll::Buffer const one = message(call, address, count, type, side);
    call.size(static_cast<long>(count) * n, *one.type, side.count);
    return coll::Parts::regular(one.address, one.count, *one.type);
}

/// The v form: `n` parts with counts and displacements.
inline coll::Parts parts(Call& call, int n, void const* address, int const* counts, int const* displs,
                         MPI_Datatype type, Side const& side) {
    Datatype& t = call.type(type, side.type);
    void* base = own_address(address, side.buffer);
    if (n > 0) call.pointer(counts, side.count);
    if (n > 0) call.pointer(displs, side.displs);
    for (int i = 0; i < n; ++i) {
        call.count(counts[i], side.count);
        call.buffer(base, counts[i], t, side.buffer);
        call.size(displs[i], t, side.displs);
    }
    return coll::Parts::irregular(base, counts, displs, t);
}

/// The w form, with displacements as int or MPI_Aint. Fills `types`, which must stay valid as long as the parts.
template <class Displacement>
coll::Parts typed_parts(Call& call, int n, void const* address, int const* counts, Displacement const* displs,
                        MPI_Datatype const* handles, std::vector<Datatype const*>& types, Side const& side) {
    void* base = own_address(address, side.buffer);
    if (n > 0) call.pointer(counts, side.count);
    if (n > 0) call.pointer(displs, side.displs);
    if (n > 0) call.pointer(handles, side.type);
    types.reserve(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) {
        call.count(counts[i], side.count);
        types.push_back(&call.type(handles[i], side.type));   // also for empty parts: MPI requires a valid type
        auto const at = reinterpret_cast<std::intptr_t>(base) + displs[i];
        call.buffer(reinterpret_cast<void*>(at), counts[i], *types.back(), side.buffer);
    }
    return coll::Parts::typed(base, counts, displs, types.data());
}

/// Gather, scatter and their v forms: `own()` creates the rank's own part at `address`, which is sent if `sends` and
/// otherwise received; `parts()` creates the root's side.
template <class MakeOwn, class MakeParts>
coll::RootedArgs rooted(Call& call, Comm& comm, int root, bool equal, bool sends, void const* address, MakeOwn&& own,
                        MakeParts&& parts) {
    if (comm.is_inter()) return inter::rooted(comm, root, own, parts);
    coll::RootedArgs args{};
    call.root(comm, root);
    args.root = root;
    args.equal_parts = equal;
    bool const at_root = comm.rank() == root;
    if (at_root) args.parts = parts();
    args.in_place_at_root = at_root && is_in_place(address);
    args.mine = args.in_place_at_root ? args.parts[root] : own();
    if (at_root && !args.in_place_at_root)
        sends ? no_alias(args.mine, args.parts[root]) : no_alias(args.parts[root], args.mine);
    args.max_part_bytes = args.mine.bytes();
    return args;
}

template <class MakeParts>
BoundCall<coll::RootedArgs> gather_into(Call& call, Comm& comm, void const* sendbuf, int sendcount,
                                        MPI_Datatype sendtype, int root, bool equal, MakeParts&& parts) {
    auto const send_part = [&] { return message(call, sendbuf, sendcount, sendtype, send_side); };
    return {comm, coll::Collective::gather, rooted(call, comm, root, equal, true, sendbuf, send_part, parts)};
}

template <class MakeParts>
BoundCall<coll::RootedArgs> scatter_from(Call& call, Comm& comm, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                         int root, bool equal, MakeParts&& parts) {
    auto const receive_part = [&] { return message(call, recvbuf, recvcount, recvtype, receive_side); };
    return {comm, coll::Collective::scatter, rooted(call, comm, root, equal, false, recvbuf, receive_part, parts)};
}

inline BoundCall<coll::AllgatherArgs> allgather_into(Call& call, Comm& comm, void const* sendbuf, int sendcount,
                                                     MPI_Datatype sendtype, coll::Parts const& parts) {
    auto const send_part = [&] { return message(call, sendbuf, sendcount, sendtype, send_side); };
    if (comm.is_inter()) return {comm, coll::Collective::allgather, inter::allgather(comm, send_part(), parts)};
    BoundCall<coll::AllgatherArgs> made{comm, coll::Collective::allgather, {}};
    coll::AllgatherArgs& args = made.args;
    args.parts = parts;
    args.is_in_place = is_in_place(sendbuf);
    args.mine = args.is_in_place ? parts[comm.rank()] : send_part();
    if (!args.is_in_place) no_alias(args.mine, parts[comm.rank()]);
    if (parts.are_equal()) args.max_part_bytes = parts[0].bytes();
    else
        for (int i = 0; i < comm.size(); ++i) args.max_part_bytes = std::max(args.max_part_bytes, parts[i].bytes());
    return made;
}

/// `send()` creates the parts to send, unless the call is in place.
template <class MakeParts>
BoundCall<coll::AlltoallArgs> alltoall_into(Comm& comm, void const* sendbuf, coll::Parts const& receive, bool equal,
                                            MakeParts&& send) {
    if (comm.is_inter()) {
        own_address(sendbuf, "sendbuf (on an intercommunicator)");
        return {comm, coll::Collective::alltoall, inter::alltoall(comm, send(), receive)};
    }
    BoundCall<coll::AlltoallArgs> call{comm, coll::Collective::alltoall, {}};
    coll::AlltoallArgs& args = call.args;
    args.receive = receive;
    args.is_in_place = is_in_place(sendbuf);
    args.equal_parts = equal;
    if (args.is_in_place) {
        args.send = receive;
    } else {
        args.send = send();
        no_alias(args.send[comm.rank()], receive[comm.rank()]);
    }
    args.part_bytes = equal ? receive[0].bytes() : 0;
    return call;
}

inline BoundCall<coll::RootedArgs> gather(Call& call, void const* sendbuf, int sendcount, MPI_Datatype sendtype,
                                          void* recvbuf, int recvcount, MPI_Datatype recvtype, int root,
                                          MPI_Comm comm) {
    Comm& c = call.comm(comm);
    return gather_into(call, c, sendbuf, sendcount, sendtype, root, true,
                       [&] { return equal_parts(call, c.peers().size(), recvbuf, recvcount, recvtype, receive_side); });
}

inline BoundCall<coll::RootedArgs> gatherv(Call& call, void const* sendbuf, int sendcount, MPI_Datatype sendtype,
                                           void* recvbuf, int const recvcounts[], int const displs[],
                                           MPI_Datatype recvtype, int root, MPI_Comm comm) {
    Comm& c = call.comm(comm);
    int const n = c.peers().size();   // parts
    return gather_into(call, c, sendbuf, sendcount, sendtype, root, false,
                       [&] { return parts(call, n, recvbuf, recvcounts, displs, recvtype, receive_sides); });
}

inline BoundCall<coll::RootedArgs> scatter(Call& call, void const* sendbuf, int sendcount, MPI_Datatype sendtype,
                                           void* recvbuf, int recvcount, MPI_Datatype recvtype, int root,
                                           MPI_Comm comm) {
    Comm& c = call.comm(comm);
    return scatter_from(call, c, recvbuf, recvcount, recvtype, root, true,
                        [&] { return equal_parts(call, c.peers().size(), sendbuf, sendcount, sendtype, send_side); });
}

inline BoundCall<coll::RootedArgs> scatterv(Call& call, void const* sendbuf, int const sendcounts[], int const displs[],
                                            MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                            int root, MPI_Comm comm) {
    Comm& c = call.comm(comm);
    int const n = c.peers().size();   // parts
    return scatter_from(call, c, recvbuf, recvcount, recvtype, root, false,
                        [&] { return parts(call, n, sendbuf, sendcounts, displs, sendtype, send_sides); });
}

inline BoundCall<coll::AllgatherArgs> allgather(Call& call, void const* sendbuf, int sendcount, MPI_Datatype sendtype,
                                                void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
    Comm& c = call.comm(comm);
    return allgather_into(call, c, sendbuf, sendcount, sendtype,
                          equal_parts(call, c.peers().size(), recvbuf, recvcount, recvtype, receive_side));
}

inline BoundCall<coll::AllgatherArgs> allgatherv(Call& call, void const* sendbuf, int sendcount, MPI_Datatype sendtype,
                                                 void* recvbuf, int const recvcounts[], int const displs[],
                                                 MPI_Datatype recvtype, MPI_Comm comm) {
    Comm& c = call.comm(comm);
    int const n = c.peers().size();   // parts
    return allgather_into(call, c, sendbuf, sendcount, sendtype,
                          parts(call, n, recvbuf, recvcounts, displs, recvtype, receive_sides));
}

inline BoundCall<coll::AlltoallArgs> alltoall(Call& call, void const* sendbuf, int sendcount, MPI_Datatype sendtype,
                                              void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
    Comm& c = call.comm(comm);
    int const n = c.peers().size();   // parts
    return alltoall_into(c, sendbuf, equal_parts(call, n, recvbuf, recvcount, recvtype, receive_side), true,
                         [&] { return equal_parts(call, n, sendbuf, sendcount, sendtype, send_side); });
}

inline BoundCall<coll::AlltoallArgs> alltoallv(Call& call, void const* sendbuf, int const sendcounts[],
                                               int const sdispls[], MPI_Datatype sendtype, void* recvbuf,
                                               int const recvcounts[], int const rdispls[], MPI_Datatype recvtype,
                                               MPI_Comm comm) {
    Comm& c = call.comm(comm);
    int const n = c.peers().size();   // parts
    auto const receive = parts(call, n, recvbuf, recvcounts, rdispls, recvtype, exchanged_receive_sides);
    return alltoall_into(c, sendbuf, receive, false,
                         [&] { return parts(call, n, sendbuf, sendcounts, sdispls, sendtype, exchanged_send_sides); });
}

inline BoundCall<coll::AlltoallArgs> alltoallw(Call& call, void const* sendbuf, int const sendcounts[],
                                               int const sdispls[], MPI_Datatype const sendtypes[], void* recvbuf,
                                               int const recvcounts[], int const rdispls[],
                                               MPI_Datatype const recvtypes[], MPI_Comm comm, coll::Lists& lists) {
    Comm& c = call.comm(comm);
    int const n = c.peers().size();   // parts
    auto const receive =
        typed_parts(call, n, recvbuf, recvcounts, rdispls, recvtypes, lists.receive_types, typed_receive_sides);
    return alltoall_into(c, sendbuf, receive, false, [&] {
        return typed_parts(call, n, sendbuf, sendcounts, sdispls, sendtypes, lists.send_types, typed_send_sides);
    });
}

}   // namespace tutti
