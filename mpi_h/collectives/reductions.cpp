// SPDX-License-Identifier: BSD-3-Clause
// Barrier, broadcast and the blocking reductions (MPI 3.1, 5.3, 5.4, 5.9 to 5.11).
#include "mpi_h/collectives/recent_calls.hpp"
#include "mpi_h/collectives/reduction_args.hpp"

using namespace tutti;

TUTTI_FUNCTION(Barrier)
int PMPI_Barrier(MPI_Comm comm) {
    return enter("MPI_Barrier", given(comm), [&](Call& call) {
        run(call, &RecentCollectives::barrier, {comm}, no_buffers, [&] { return barrier(call, comm); });
    });
}

TUTTI_FUNCTION(Bcast)
int PMPI_Bcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm) {
    return enter("MPI_Bcast", given(buffer, count, datatype, root, comm), [&](Call& call) {
        run(call, &RecentCollectives::bcast, {comm, count, datatype, root}, bcast_buffer(buffer),
            [&] { return bcast(call, buffer, count, datatype, root, comm); });
    });
}

TUTTI_FUNCTION(Reduce)
int PMPI_Reduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
                MPI_Comm comm) {
    return enter("MPI_Reduce", given(sendbuf, recvbuf, count, datatype, op, root, comm), [&](Call& call) {
        run(call, &RecentCollectives::reduce, {comm, count, datatype, op, root}, reduce_buffers(sendbuf, recvbuf),
            [&] { return reduce(call, sendbuf, recvbuf, count, datatype, op, root, comm); });
    });
}

TUTTI_FUNCTION(Allreduce)
int PMPI_Allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    return enter("MPI_Allreduce", given(sendbuf, recvbuf, count, datatype, op, comm), [&](Call& call) {
        run(call, &RecentCollectives::allreduce, {comm, count, datatype, op}, reduction_buffers(sendbuf, recvbuf),
            [&] { return allreduce(call, sendbuf, recvbuf, count, datatype, op, comm); });
    });
}

TUTTI_FUNCTION(Reduce_scatter)
int PMPI_Reduce_scatter(const void* sendbuf, void* recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op,
                        MPI_Comm comm) {
    return enter("MPI_Reduce_scatter", given(sendbuf, recvbuf, recvcounts, datatype, op, comm), [&](Call& call) {
        run(call, reduce_scatter(call, sendbuf, recvbuf, recvcounts, datatype, op, comm));
    });
}

TUTTI_FUNCTION(Reduce_scatter_block)
int PMPI_Reduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op,
                              MPI_Comm comm) {
    return enter("MPI_Reduce_scatter_block", given(sendbuf, recvbuf, recvcount, datatype, op, comm), [&](Call& call) {
        coll::Lists lists;
        run(call, reduce_scatter_block(call, sendbuf, recvbuf, recvcount, datatype, op, comm, lists));
    });
}

TUTTI_FUNCTION(Scan)
int PMPI_Scan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    return enter("MPI_Scan", given(sendbuf, recvbuf, count, datatype, op, comm), [&](Call& call) {
        run(call, &RecentCollectives::scan, {comm, count, datatype, op}, reduction_buffers(sendbuf, recvbuf),
            [&] { return scan(call, sendbuf, recvbuf, count, datatype, op, comm); });
    });
}

TUTTI_FUNCTION(Exscan)
int PMPI_Exscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    return enter("MPI_Exscan", given(sendbuf, recvbuf, count, datatype, op, comm),
                 [&](Call& call) { run(call, exscan(call, sendbuf, recvbuf, count, datatype, op, comm)); });
}
