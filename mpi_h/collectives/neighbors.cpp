// SPDX-License-Identifier: BSD-3-Clause
// The neighborhood collectives: blocking, nonblocking and persistent (MPI 3.1, 7.6 and 7.7; MPI 4.0, 8.8).
#include "mpi_h/collectives/neighbor_args.hpp"

using namespace tutti;

TUTTI_FUNCTION(Neighbor_allgather);
int PMPI_Neighbor_allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                            MPI_Datatype recvtype, MPI_Comm comm) {
    return enter(args(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), [&](Call& call) {
        run(call, neighbor_allgather(call, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm));
    });
}

TUTTI_FUNCTION(Neighbor_allgatherv);
int PMPI_Neighbor_allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                             const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm) {
    return enter(args(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm), [&](Call& call) {
        run(call, neighbor_allgatherv(call, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm));
    });
}

TUTTI_FUNCTION(Neighbor_alltoall);
int PMPI_Neighbor_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                           MPI_Datatype recvtype, MPI_Comm comm) {
    return enter(args(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), [&](Call& call) {
        run(call, neighbor_alltoall(call, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm));
    });
}

TUTTI_FUNCTION(Neighbor_alltoallv);
int PMPI_Neighbor_alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                            void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                            MPI_Comm comm) {
    return enter(args(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm),
                 [&](Call& call) {
                     run(call, neighbor_alltoallv(call, sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                                                  rdispls, recvtype, comm));
                 });
}

TUTTI_FUNCTION(Neighbor_alltoallw);
int PMPI_Neighbor_alltoallw(const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                            const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                            const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm) {
    return enter(args(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm),
                 [&](Call& call) {
                     coll::Lists lists;
                     run(call, neighbor_alltoallw(call, sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                                                  rdispls, recvtypes, comm, lists));
                 });
}

TUTTI_FUNCTION(Ineighbor_allgather);
int PMPI_Ineighbor_allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                             MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
    return enter(args(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request), [&](Call& call) {
        start(call, neighbor_allgather(call, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm),
              request);
    });
}

TUTTI_FUNCTION(Ineighbor_allgatherv);
int PMPI_Ineighbor_allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                              const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm,
                              MPI_Request* request) {
    return enter(
        args(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, request), [&](Call& call) {
            start(call,
                  neighbor_allgatherv(call, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm),
                  request);
        });
}

TUTTI_FUNCTION(Ineighbor_alltoall);
int PMPI_Ineighbor_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                            MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
    return enter(args(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request), [&](Call& call) {
        start(call, neighbor_alltoall(call, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), request);
    });
}

TUTTI_FUNCTION(Ineighbor_alltoallv);
int PMPI_Ineighbor_alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                             void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                             MPI_Comm comm, MPI_Request* request) {
    return enter(args(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, request),
                 [&](Call& call) {
                     start(call,
                           neighbor_alltoallv(call, sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                                              rdispls, recvtype, comm),
                           request);
                 });
}

TUTTI_FUNCTION(Ineighbor_alltoallw);
int PMPI_Ineighbor_alltoallw(const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                             const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                             const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                             MPI_Request* request) {
    return enter(args(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm, request),
                 [&](Call& call) {
                     coll::Lists lists;
                     auto const made = neighbor_alltoallw(call, sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
                                                          recvcounts, rdispls, recvtypes, comm, lists);
                     start(call, made, request);
                 });
}

TUTTI_FUNCTION(Neighbor_allgather_init);
int PMPI_Neighbor_allgather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                 int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                 MPI_Request* request) {
    return enter(
        args(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request), [&](Call& call) {
            init(call, neighbor_allgather(call, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), info,
                 request);
        });
}

TUTTI_FUNCTION(Neighbor_allgatherv_init);
int PMPI_Neighbor_allgatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                  const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm,
                                  MPI_Info info, MPI_Request* request) {
    return enter(
        args(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, info, request),
        [&](Call& call) {
            init(call,
                 neighbor_allgatherv(call, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm),
                 info, request);
        });
}

TUTTI_FUNCTION(Neighbor_alltoall_init);
int PMPI_Neighbor_alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                                MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return enter(
        args(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request), [&](Call& call) {
            init(call, neighbor_alltoall(call, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), info,
                 request);
        });
}

TUTTI_FUNCTION(Neighbor_alltoallv_init);
int PMPI_Neighbor_alltoallv_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
                                 MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int rdispls[],
                                 MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return enter(
        args(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, info, request),
        [&](Call& call) {
            init(call,
                 neighbor_alltoallv(call, sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
                                    recvtype, comm),
                 info, request);
        });
}

TUTTI_FUNCTION(Neighbor_alltoallw_init);
int PMPI_Neighbor_alltoallw_init(const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                                 const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                                 const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
                                 MPI_Request* request) {
    return enter(
        args(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm, info, request),
        [&](Call& call) {
            coll::Lists lists;
            auto const made = neighbor_alltoallw(call, sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                                                 rdispls, recvtypes, comm, lists);
            init(call, made, info, request);
        });
}
