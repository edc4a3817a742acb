// SPDX-License-Identifier: BSD-3-Clause
// The blocking collectives that move data: gather, scatter, allgather, alltoall and their v and w forms (MPI 3.1, 5.5
// to 5.8).
#include "mpi_h/collectives/movement_args.hpp"
#include "mpi_h/collectives/recent_calls.hpp"

using namespace tutti;

TUTTI_FUNCTION(Gather)
int PMPI_Gather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                MPI_Datatype recvtype, int root, MPI_Comm comm) {
    return enter(
        "MPI_Gather", given(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm), [&](Call& call) {
            run(call, &RecentCollectives::gather, {comm, sendcount, sendtype, recvcount, recvtype, root},
                rooted_buffers(sendbuf, recvbuf),
                [&] { return gather(call, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm); });
        });
}

TUTTI_FUNCTION(Gatherv)
int PMPI_Gatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                 const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm) {
    return enter(
        "MPI_Gatherv", given(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm),
        [&](Call& call) {
            run(call, gatherv(call, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm));
        });
}

TUTTI_FUNCTION(Scatter)
int PMPI_Scatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                 MPI_Datatype recvtype, int root, MPI_Comm comm) {
    return enter(
        "MPI_Scatter", given(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm), [&](Call& call) {
            run(call, &RecentCollectives::scatter, {comm, sendcount, sendtype, recvcount, recvtype, root},
                rooted_buffers(recvbuf, sendbuf),
                [&] { return scatter(call, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm); });
        });
}

TUTTI_FUNCTION(Scatterv)
int PMPI_Scatterv(const void* sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype, void* recvbuf,
                  int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
    return enter(
        "MPI_Scatterv", given(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm),
        [&](Call& call) {
            run(call, scatterv(call, sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm));
        });
}

TUTTI_FUNCTION(Allgather)
int PMPI_Allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                   MPI_Datatype recvtype, MPI_Comm comm) {
    return enter(
        "MPI_Allgather", given(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), [&](Call& call) {
            run(call, &RecentCollectives::allgather, {comm, sendcount, sendtype, recvcount, recvtype},
                allgather_buffers(sendbuf, recvbuf),
                [&] { return allgather(call, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm); });
        });
}

TUTTI_FUNCTION(Allgatherv)
int PMPI_Allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                    const int displs[], MPI_Datatype recvtype, MPI_Comm comm) {
    return enter("MPI_Allgatherv", given(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm),
                 [&](Call& call) {
                     run(call,
                         allgatherv(call, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm));
                 });
}

TUTTI_FUNCTION(Alltoall)
int PMPI_Alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                  MPI_Datatype recvtype, MPI_Comm comm) {
    return enter(
        "MPI_Alltoall", given(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), [&](Call& call) {
            run(call, &RecentCollectives::alltoall, {comm, sendcount, sendtype, recvcount, recvtype},
                alltoall_buffers(sendbuf, recvbuf),
                [&] { return alltoall(call, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm); });
        });
}

TUTTI_FUNCTION(Alltoallv)
int PMPI_Alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                   void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm) {
    return enter(
        "MPI_Alltoallv", given(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm),
        [&](Call& call) {
            run(call,
                alltoallv(call, sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm));
        });
}

TUTTI_FUNCTION(Alltoallw)
int PMPI_Alltoallw(const void* sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[],
                   void* recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[],
                   MPI_Comm comm) {
    return enter("MPI_Alltoallw",
                 given(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm),
                 [&](Call& call) {
                     coll::Lists lists;
                     run(call, alltoallw(call, sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
                                         recvtypes, comm, lists));
                 });
}
