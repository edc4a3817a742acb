// SPDX-License-Identifier: BSD-3-Clause
// The collectives that move data as persistent requests (MPI 4.0, 6.13).
#include "mpi_h/collectives/movement_args.hpp"

using namespace tutti;

TUTTI_FUNCTION(Gather_init)
int PMPI_Gather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                     MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return enter("MPI_Gather_init",
                 given(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, info, request),
                 [&](Call& call) {
                     init(call, gather(call, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm),
                          info, request);
                 });
}

TUTTI_FUNCTION(Gatherv_init)
int PMPI_Gatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                      const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                      MPI_Request* request) {
    return enter(
        "MPI_Gatherv_init",
        given(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm, info, request),
        [&](Call& call) {
            init(call, gatherv(call, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm),
                 info, request);
        });
}

TUTTI_FUNCTION(Scatter_init)
int PMPI_Scatter_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                      MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return enter("MPI_Scatter_init",
                 given(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, info, request),
                 [&](Call& call) {
                     init(call, scatter(call, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm),
                          info, request);
                 });
}

TUTTI_FUNCTION(Scatterv_init)
int PMPI_Scatterv_init(const void* sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype,
                       void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                       MPI_Request* request) {
    return enter(
        "MPI_Scatterv_init",
        given(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm, info, request),
        [&](Call& call) {
            init(call, scatterv(call, sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm),
                 info, request);
        });
}

TUTTI_FUNCTION(Allgather_init)
int PMPI_Allgather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                        MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return enter("MPI_Allgather_init",
                 given(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request),
                 [&](Call& call) {
                     init(call, allgather(call, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), info,
                          request);
                 });
}

TUTTI_FUNCTION(Allgatherv_init)
int PMPI_Allgatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                         const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm,
                         MPI_Info info, MPI_Request* request) {
    return enter("MPI_Allgatherv_init",
                 given(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, info, request),
                 [&](Call& call) {
                     init(call,
                          allgatherv(call, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm),
                          info, request);
                 });
}

TUTTI_FUNCTION(Alltoall_init)
int PMPI_Alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                       MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return enter(
        "MPI_Alltoall_init", given(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request),
        [&](Call& call) {
            init(call, alltoall(call, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), info, request);
        });
}

TUTTI_FUNCTION(Alltoallv_init)
int PMPI_Alltoallv_init(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                        void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                        MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return enter(
        "MPI_Alltoallv_init",
        given(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, info, request),
        [&](Call& call) {
            init(call,
                 alltoallv(call, sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm),
                 info, request);
        });
}

TUTTI_FUNCTION(Alltoallw_init)
int PMPI_Alltoallw_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
                        const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[], const int rdispls[],
                        const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return enter(
        "MPI_Alltoallw_init",
        given(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm, info, request),
        [&](Call& call) {
            coll::Lists lists;
            init(call,
                 alltoallw(call, sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm,
                           lists),
                 info, request);
        });
}
