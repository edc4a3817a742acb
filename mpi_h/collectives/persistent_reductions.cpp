// SPDX-License-Identifier: BSD-3-Clause
// Barrier, broadcast and the reductions as persistent requests (MPI 4.0, 6.13).
#include "mpi_h/collectives/reduction_args.hpp"

using namespace tutti;

TUTTI_FUNCTION(Barrier_init)
int PMPI_Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return enter("MPI_Barrier_init", given(comm, info, request),
                 [&](Call& call) { init(call, barrier(call, comm), info, request); });
}

TUTTI_FUNCTION(Bcast_init)
int PMPI_Bcast_init(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Info info,
                    MPI_Request* request) {
    return enter("MPI_Bcast_init", given(buffer, count, datatype, root, comm, info, request),
                 [&](Call& call) { init(call, bcast(call, buffer, count, datatype, root, comm), info, request); });
}

TUTTI_FUNCTION(Reduce_init)
int PMPI_Reduce_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
                     MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return enter("MPI_Reduce_init", given(sendbuf, recvbuf, count, datatype, op, root, comm, info, request),
                 [&](Call& call) {
                     init(call, reduce(call, sendbuf, recvbuf, count, datatype, op, root, comm), info, request);
                 });
}

TUTTI_FUNCTION(Allreduce_init)
int PMPI_Allreduce_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                        MPI_Info info, MPI_Request* request) {
    return enter(
        "MPI_Allreduce_init", given(sendbuf, recvbuf, count, datatype, op, comm, info, request),
        [&](Call& call) { init(call, allreduce(call, sendbuf, recvbuf, count, datatype, op, comm), info, request); });
}

TUTTI_FUNCTION(Reduce_scatter_init)
int PMPI_Reduce_scatter_init(const void* sendbuf, void* recvbuf, const int recvcounts[], MPI_Datatype datatype,
                             MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return enter("MPI_Reduce_scatter_init", given(sendbuf, recvbuf, recvcounts, datatype, op, comm, info, request),
                 [&](Call& call) {
                     init(call, reduce_scatter(call, sendbuf, recvbuf, recvcounts, datatype, op, comm), info, request);
                 });
}

TUTTI_FUNCTION(Reduce_scatter_block_init)
int PMPI_Reduce_scatter_block_init(const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op,
                                   MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return enter("MPI_Reduce_scatter_block_init", given(sendbuf, recvbuf, recvcount, datatype, op, comm, info, request),
                 [&](Call& call) {
                     coll::Lists lists;
                     init(call, reduce_scatter_block(call, sendbuf, recvbuf, recvcount, datatype, op, comm, lists),
                          info, request);
                 });
}

TUTTI_FUNCTION(Scan_init)
int PMPI_Scan_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                   MPI_Info info, MPI_Request* request) {
    return enter("MPI_Scan_init", given(sendbuf, recvbuf, count, datatype, op, comm, info, request), [&](Call& call) {
        init(call, scan(call, sendbuf, recvbuf, count, datatype, op, comm), info, request);
    });
}

TUTTI_FUNCTION(Exscan_init)
int PMPI_Exscan_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                     MPI_Info info, MPI_Request* request) {
    return enter("MPI_Exscan_init", given(sendbuf, recvbuf, count, datatype, op, comm, info, request), [&](Call& call) {
        init(call, exscan(call, sendbuf, recvbuf, count, datatype, op, comm), info, request);
    });
}
