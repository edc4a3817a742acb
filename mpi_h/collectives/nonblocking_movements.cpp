// SPDX-License-Identifier: BSD-3-Clause
// The collectives that move data as requests (MPI 3.1, 5.12).
#include "mpi_h/collectives/movement_args.hpp"

using namespace tutti;

TUTTI_FUNCTION(Igather)
int PMPI_Igather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                 MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request* request) {
    return enter("MPI_Igather", given(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, request),
                 [&](Call& call) {
                     start(call, gather(call, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm),
                           request);
                 });
}

TUTTI_FUNCTION(Igatherv)
int PMPI_Igatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                  const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request* request) {
    return enter(
        "MPI_Igatherv", given(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm, request),
        [&](Call& call) {
            start(call, gatherv(call, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm),
                  request);
        });
}

TUTTI_FUNCTION(Iscatter)
int PMPI_Iscatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                  MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request* request) {
    return enter("MPI_Iscatter", given(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, request),
                 [&](Call& call) {
                     start(call, scatter(call, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm),
                           request);
                 });
}

TUTTI_FUNCTION(Iscatterv)
int PMPI_Iscatterv(const void* sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype,
                   void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request* request) {
    return enter(
        "MPI_Iscatterv",
        given(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm, request),
        [&](Call& call) {
            start(call, scatterv(call, sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm),
                  request);
        });
}

TUTTI_FUNCTION(Iallgather)
int PMPI_Iallgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                    MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
    return enter("MPI_Iallgather", given(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request),
                 [&](Call& call) {
                     start(call, allgather(call, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm),
                           request);
                 });
}

TUTTI_FUNCTION(Iallgatherv)
int PMPI_Iallgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                     const int displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
    return enter(
        "MPI_Iallgatherv", given(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, request),
        [&](Call& call) {
            start(call, allgatherv(call, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm),
                  request);
        });
}

TUTTI_FUNCTION(Ialltoall)
int PMPI_Ialltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                   MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
    return enter("MPI_Ialltoall", given(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request),
                 [&](Call& call) {
                     start(call, alltoall(call, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm),
                           request);
                 });
}

TUTTI_FUNCTION(Ialltoallv)
int PMPI_Ialltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                    void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                    MPI_Request* request) {
    return enter(
        "MPI_Ialltoallv",
        given(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, request),
        [&](Call& call) {
            start(call,
                  alltoallv(call, sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm),
                  request);
        });
}

TUTTI_FUNCTION(Ialltoallw)
int PMPI_Ialltoallw(const void* sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[],
                    void* recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[],
                    MPI_Comm comm, MPI_Request* request) {
    return enter("MPI_Ialltoallw",
                 given(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm, request),
                 [&](Call& call) {
                     coll::Lists lists;
                     start(call,
                           alltoallw(call, sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
                                     recvtypes, comm, lists),
                           request);
                 });
}
