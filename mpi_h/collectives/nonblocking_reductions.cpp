// SPDX-License-Identifier: BSD-3-Clause
// Barrier, broadcast and the reductions as requests (MPI 3.1, 5.12).
#include "mpi_h/collectives/reduction_args.hpp"

using namespace tutti;

TUTTI_FUNCTION(Ibarrier)
int PMPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
    return enter("MPI_Ibarrier", given(comm, request), [&](Call& call) { start(call, barrier(call, comm), request); });
}

TUTTI_FUNCTION(Ibcast)
int PMPI_Ibcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Request* request) {
    return enter("MPI_Ibcast", given(buffer, count, datatype, root, comm, request),
                 [&](Call& call) { start(call, bcast(call, buffer, count, datatype, root, comm), request); });
}

TUTTI_FUNCTION(Ireduce)
int PMPI_Ireduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
                 MPI_Comm comm, MPI_Request* request) {
    return enter("MPI_Ireduce", given(sendbuf, recvbuf, count, datatype, op, root, comm, request), [&](Call& call) {
        start(call, reduce(call, sendbuf, recvbuf, count, datatype, op, root, comm), request);
    });
}

TUTTI_FUNCTION(Iallreduce)
int PMPI_Iallreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                    MPI_Request* request) {
    return enter("MPI_Iallreduce", given(sendbuf, recvbuf, count, datatype, op, comm, request), [&](Call& call) {
        start(call, allreduce(call, sendbuf, recvbuf, count, datatype, op, comm), request);
    });
}

TUTTI_FUNCTION(Ireduce_scatter)
int PMPI_Ireduce_scatter(const void* sendbuf, void* recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op,
                         MPI_Comm comm, MPI_Request* request) {
    return enter("MPI_Ireduce_scatter", given(sendbuf, recvbuf, recvcounts, datatype, op, comm, request),
                 [&](Call& call) {
                     start(call, reduce_scatter(call, sendbuf, recvbuf, recvcounts, datatype, op, comm), request);
                 });
}

TUTTI_FUNCTION(Ireduce_scatter_block)
int PMPI_Ireduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op,
                               MPI_Comm comm, MPI_Request* request) {
    return enter(
        "MPI_Ireduce_scatter_block", given(sendbuf, recvbuf, recvcount, datatype, op, comm, request), [&](Call& call) {
            coll::Lists lists;
            start(call, reduce_scatter_block(call, sendbuf, recvbuf, recvcount, datatype, op, comm, lists), request);
        });
}

TUTTI_FUNCTION(Iscan)
int PMPI_Iscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
               MPI_Request* request) {
    return enter("MPI_Iscan", given(sendbuf, recvbuf, count, datatype, op, comm, request),
                 [&](Call& call) { start(call, scan(call, sendbuf, recvbuf, count, datatype, op, comm), request); });
}

TUTTI_FUNCTION(Iexscan)
int PMPI_Iexscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                 MPI_Request* request) {
    return enter("MPI_Iexscan", given(sendbuf, recvbuf, count, datatype, op, comm, request),
                 [&](Call& call) { start(call, exscan(call, sendbuf, recvbuf, count, datatype, op, comm), request); });
}
