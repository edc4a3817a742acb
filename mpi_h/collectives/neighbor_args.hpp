// SPDX-License-Identifier: BSD-3-Clause
// Arguments of the neighborhood collectives, checked and converted to objects, for all three forms of the call (MPI
// 3.1, 7.6 and 7.7; MPI 4.0, 8.8). Parts are indexed by the number of the edge; MPI_IN_PLACE is not allowed.
#pragma once

#include "mpi_h/collectives/call_forms.hpp"
#include "mpi_h/collectives/movement_args.hpp"
#include "mpi_h/communicators/communicators.hpp"

namespace tutti {

/// Returns the edges of a communicator. Throws Error(topology) if it has no topology.
inline Neighborhood const& edges_of(Comm& c) {
    if (!c.topology)
        fail(ErrorClass::topology, "comm has no topology; create one with MPI_Cart_create or MPI_Dist_graph_create");
    if (!c.neighborhood) c.neighborhood = Neighborhood::of(*c.topology, c.rank(), c.size());
    return *c.neighborhood;
}

/// For the v and w forms: the size of a message is known only at the two ends of its edge.
inline constexpr bool any_sizes = false;

template <class Args>
Args neighbor_args(Neighborhood const& edges, coll::Parts const& receive, bool equal) {
    Args args{};
    args.edges = &edges;
    args.receive = receive;
    args.equal_parts = equal;
    return args;
}

inline BoundCall<coll::NeighborAllgatherArgs> neighbor_allgather_into(Call& call, Comm& c, void const* sendbuf,
                                                                      int sendcount, MPI_Datatype sendtype,
                                                                      coll::Parts const& receive, bool equal) {
    Neighborhood const& edges = edges_of(c);
    auto args = neighbor_args<coll::NeighborAllgatherArgs>(edges, receive, equal);
    args.mine = message(call, sendbuf, sendcount, sendtype, send_side);
    if (edges.in_degree() > 0) no_alias(args.mine, receive[0]);
    if (equal) args.part_bytes = edges.out_degree() > 0 ? args.mine.bytes() : receive[0].bytes();
    return {c, coll::Collective::neighbor_allgather, args};
}

inline BoundCall<coll::NeighborAlltoallArgs> neighbor_alltoall_into(Comm& c, coll::Parts const& send,
                                                                    coll::Parts const& receive, bool equal) {
    Neighborhood const& edges = edges_of(c);
    auto args = neighbor_args<coll::NeighborAlltoallArgs>(edges, receive, equal);
    args.send = send;
    if (edges.in_degree() > 0 && edges.out_degree() > 0) no_alias(send[0], receive[0]);
    if (equal) args.part_bytes = (edges.out_degree() > 0 ? send : receive)[0].bytes();
    return {c, coll::Collective::neighbor_alltoall, args};
}

inline BoundCall<coll::NeighborAllgatherArgs> neighbor_allgather(Call& call, void const* sendbuf, int sendcount,
                                                                 MPI_Datatype sendtype, void* recvbuf, int recvcount,
                                                                 MPI_Datatype recvtype, MPI_Comm comm) {
    Comm& c = call.comm(comm);
    int const n = edges_of(c).in_degree();
    return neighbor_allgather_into(call, c, sendbuf, sendcount, sendtype,
                                   equal_parts(call, n, recvbuf, recvcount, recvtype, receive_side), true);
}

inline BoundCall<coll::NeighborAllgatherArgs> neighbor_allgatherv(Call& call, void const* sendbuf, int sendcount,
                                                                  MPI_Datatype sendtype, void* recvbuf,
                                                                  int const recvcounts[], int const displs[],
                                                                  MPI_Datatype recvtype, MPI_Comm comm) {
    Comm& c = call.comm(comm);
    int const n = edges_of(c).in_degree();
    return neighbor_allgather_into(call, c, sendbuf, sendcount, sendtype,
                                   parts(call, n, recvbuf, recvcounts, displs, recvtype, receive_sides), any_sizes);
}

inline BoundCall<coll::NeighborAlltoallArgs> neighbor_alltoall(Call& call, void const* sendbuf, int sendcount,
                                                               MPI_Datatype sendtype, void* recvbuf, int recvcount,
                                                               MPI_Datatype recvtype, MPI_Comm comm) {
    Comm& c = call.comm(comm);
    Neighborhood const& edges = edges_of(c);
    return neighbor_alltoall_into(c, equal_parts(call, edges.out_degree(), sendbuf, sendcount, sendtype, send_side),
                                  equal_parts(call, edges.in_degree(), recvbuf, recvcount, recvtype, receive_side),
                                  true);
}

inline BoundCall<coll::NeighborAlltoallArgs> neighbor_alltoallv(Call& call, void const* sendbuf, int const sendcounts[],
                                                                int const sdispls[], MPI_Datatype sendtype,
                                                                void* recvbuf, int const recvcounts[],
                                                                int const rdispls[], MPI_Datatype recvtype,
                                                                MPI_Comm comm) {
    Comm& c = call.comm(comm);
    Neighborhood const& edges = edges_of(c);
    return neighbor_alltoall_into(
        c, parts(call, edges.out_degree(), sendbuf, sendcounts, sdispls, sendtype, exchanged_send_sides),
        parts(call, edges.in_degree(), recvbuf, recvcounts, rdispls, recvtype, exchanged_receive_sides), any_sizes);
}

inline BoundCall<coll::NeighborAlltoallArgs> neighbor_alltoallw(Call& call, void const* sendbuf, int const sendcounts[],
                                                                MPI_Aint const sdispls[],
                                                                MPI_Datatype const sendtypes[], void* recvbuf,
                                                                int const recvcounts[], MPI_Aint const rdispls[],
                                                                MPI_Datatype const recvtypes[], MPI_Comm comm,
                                                                coll::Lists& lists) {
    Comm& c = call.comm(comm);
    Neighborhood const& edges = edges_of(c);
    auto const send = typed_parts(call, edges.out_degree(), sendbuf, sendcounts, sdispls, sendtypes, lists.send_types,
                                  typed_send_sides);
    auto const receive = typed_parts(call, edges.in_degree(), recvbuf, recvcounts, rdispls, recvtypes,
                                     lists.receive_types, typed_receive_sides);
    return neighbor_alltoall_into(c, send, receive, any_sizes);
}

}   // namespace tutti
