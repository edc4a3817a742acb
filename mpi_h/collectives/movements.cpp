// SPDX-License-Identifier: BSD-3-Clause
// The collectives that move data, in their three forms: gather, scatter, allgather, alltoall and their v and w forms
// (blocking: MPI 3.1, 5.5 to 5.8).
#include "mpi_h/collectives/bound_calls.hpp"
#include "mpi_h/collectives/movement_args.hpp"

using namespace tutti;

TUTTI_FUNCTION(Gather);
int PMPI_Gather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                MPI_Datatype recvtype, int root, MPI_Comm comm) {
    return enter(args(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm), [&](Call& call) {
        call_collective<gather>(call, comm, {coll::Collective::gather, sendcount, sendtype, recvcount, recvtype, root},
                                rooted_buffers(sendbuf, recvbuf), sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                recvtype, root, comm);
    });
}

TUTTI_FUNCTION(Gatherv);
int PMPI_Gatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                 const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm) {
    return enter(
        args(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm), [&](Call& call) {
            run(call, gatherv(call, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm));
        });
}

TUTTI_FUNCTION(Scatter);
int PMPI_Scatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                 MPI_Datatype recvtype, int root, MPI_Comm comm) {
    return enter(args(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm), [&](Call& call) {
        call_collective<scatter>(
            call, comm, {coll::Collective::scatter, sendcount, sendtype, recvcount, recvtype, root},
            rooted_buffers(recvbuf, sendbuf), sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
    });
}

TUTTI_FUNCTION(Scatterv);
int PMPI_Scatterv(const void* sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype, void* recvbuf,
                  int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
    return enter(
        args(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm), [&](Call& call) {
            run(call, scatterv(call, sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm));
        });
}

TUTTI_FUNCTION(Allgather);
int PMPI_Allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                   MPI_Datatype recvtype, MPI_Comm comm) {
    return enter(args(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), [&](Call& call) {
        call_collective<allgather>(call, comm, {coll::Collective::allgather, sendcount, sendtype, recvcount, recvtype},
                                   allgather_buffers(sendbuf, recvbuf), sendbuf, sendcount, sendtype, recvbuf,
                                   recvcount, recvtype, comm);
    });
}

TUTTI_FUNCTION(Allgatherv);
int PMPI_Allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                    const int displs[], MPI_Datatype recvtype, MPI_Comm comm) {
    return enter(args(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm), [&](Call& call) {
        run(call, allgatherv(call, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm));
    });
}

TUTTI_FUNCTION(Alltoall);
int PMPI_Alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                  MPI_Datatype recvtype, MPI_Comm comm) {
    return enter(args(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), [&](Call& call) {
        call_collective<alltoall>(call, comm, {coll::Collective::alltoall, sendcount, sendtype, recvcount, recvtype},
                                  alltoall_buffers(sendbuf, recvbuf), sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                  recvtype, comm);
    });
}

TUTTI_FUNCTION(Alltoallv);
int PMPI_Alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                   void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm) {
    return enter(
        args(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm), [&](Call& call) {
            run(call,
                alltoallv(call, sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm));
        });
}

TUTTI_FUNCTION(Alltoallw);
int PMPI_Alltoallw(const void* sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[],
                   void* recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[],
                   MPI_Comm comm) {
    return enter(args(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm),
                 [&](Call& call) {
                     coll::Lists lists;
                     run(call, alltoallw(call, sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
                                         recvtypes, comm, lists));
                 });
}

// Nonblocking forms (MPI 3.1, 5.12).

using namespace tutti;

TUTTI_FUNCTION(Igather);
int PMPI_Igather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                 MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request* request) {
    return enter(
        args(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, request), [&](Call& call) {
            start(call, gather(call, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm), request);
        });
}

TUTTI_FUNCTION(Igatherv);
int PMPI_Igatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                  const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request* request) {
    return enter(
        args(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm, request),
        [&](Call& call) {
            start(call, gatherv(call, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm),
                  request);
        });
}

TUTTI_FUNCTION(Iscatter);
int PMPI_Iscatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                  MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request* request) {
    return enter(
        args(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, request), [&](Call& call) {
            start(call, scatter(call, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm), request);
        });
}

TUTTI_FUNCTION(Iscatterv);
int PMPI_Iscatterv(const void* sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype,
                   void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request* request) {
    return enter(
        args(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm, request),
        [&](Call& call) {
            start(call, scatterv(call, sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm),
                  request);
        });
}

TUTTI_FUNCTION(Iallgather);
int PMPI_Iallgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                    MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
    return enter(args(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request), [&](Call& call) {
        start(call, allgather(call, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), request);
    });
}

TUTTI_FUNCTION(Iallgatherv);
int PMPI_Iallgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                     const int displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
    return enter(
        args(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, request), [&](Call& call) {
            start(call, allgatherv(call, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm),
                  request);
        });
}

TUTTI_FUNCTION(Ialltoall);
int PMPI_Ialltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                   MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
    return enter(args(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request), [&](Call& call) {
        start(call, alltoall(call, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), request);
    });
}

TUTTI_FUNCTION(Ialltoallv);
int PMPI_Ialltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                    void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                    MPI_Request* request) {
    return enter(
        args(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, request),
        [&](Call& call) {
            start(call,
                  alltoallv(call, sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm),
                  request);
        });
}

TUTTI_FUNCTION(Ialltoallw);
int PMPI_Ialltoallw(const void* sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[],
                    void* recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[],
                    MPI_Comm comm, MPI_Request* request) {
    return enter(args(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm, request),
                 [&](Call& call) {
                     coll::Lists lists;
                     start(call,
                           alltoallw(call, sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
                                     recvtypes, comm, lists),
                           request);
                 });
}

// Persistent forms (MPI 4.0, 6.13).

using namespace tutti;

TUTTI_FUNCTION(Gather_init);
int PMPI_Gather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                     MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return enter(args(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, info, request),
                 [&](Call& call) {
                     init(call, gather(call, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm),
                          info, request);
                 });
}

TUTTI_FUNCTION(Gatherv_init);
int PMPI_Gatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                      const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                      MPI_Request* request) {
    return enter(
        args(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm, info, request),
        [&](Call& call) {
            init(call, gatherv(call, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm),
                 info, request);
        });
}

TUTTI_FUNCTION(Scatter_init);
int PMPI_Scatter_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                      MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return enter(args(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, info, request),
                 [&](Call& call) {
                     init(call, scatter(call, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm),
                          info, request);
                 });
}

TUTTI_FUNCTION(Scatterv_init);
int PMPI_Scatterv_init(const void* sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype,
                       void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                       MPI_Request* request) {
    return enter(
        args(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm, info, request),
        [&](Call& call) {
            init(call, scatterv(call, sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm),
                 info, request);
        });
}

TUTTI_FUNCTION(Allgather_init);
int PMPI_Allgather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                        MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return enter(args(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request),
                 [&](Call& call) {
                     init(call, allgather(call, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), info,
                          request);
                 });
}

TUTTI_FUNCTION(Allgatherv_init);
int PMPI_Allgatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                         const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm,
                         MPI_Info info, MPI_Request* request) {
    return enter(args(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, info, request),
                 [&](Call& call) {
                     init(call,
                          allgatherv(call, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm),
                          info, request);
                 });
}

TUTTI_FUNCTION(Alltoall_init);
int PMPI_Alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                       MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return enter(
        args(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request), [&](Call& call) {
            init(call, alltoall(call, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), info, request);
        });
}

TUTTI_FUNCTION(Alltoallv_init);
int PMPI_Alltoallv_init(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                        void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                        MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return enter(
        args(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, info, request),
        [&](Call& call) {
            init(call,
                 alltoallv(call, sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm),
                 info, request);
        });
}

TUTTI_FUNCTION(Alltoallw_init);
int PMPI_Alltoallw_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
                        const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[], const int rdispls[],
                        const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return enter(
        args(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm, info, request),
        [&](Call& call) {
            coll::Lists lists;
            init(call,
                 alltoallw(call, sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm,
                           lists),
                 info, request);
        });
}
