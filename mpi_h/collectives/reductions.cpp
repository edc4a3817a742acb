// SPDX-License-Identifier: BSD-3-Clause
// Barrier, broadcast and the reductions in their three forms (blocking: MPI 3.1, 5.3, 5.4, 5.9 to 5.11).
#include "mpi_h/collectives/bound_calls.hpp"
#include "mpi_h/collectives/reduction_args.hpp"

// Nonblocking forms (MPI 3.1, 5.12).

using namespace tutti;

TUTTI_FUNCTION(Ibarrier);
int PMPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
    return enter(args(comm, request), [&](Call& call) { start(call, barrier(call, comm), request); });
}

TUTTI_FUNCTION(Ibcast);
int PMPI_Ibcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Request* request) {
    return enter(args(buffer, count, datatype, root, comm, request),
                 [&](Call& call) { start(call, bcast(call, buffer, count, datatype, root, comm), request); });
}

TUTTI_FUNCTION(Ireduce);
int PMPI_Ireduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
                 MPI_Comm comm, MPI_Request* request) {
    return enter(args(sendbuf, recvbuf, count, datatype, op, root, comm, request), [&](Call& call) {
        start(call, reduce(call, sendbuf, recvbuf, count, datatype, op, root, comm), request);
    });
}

TUTTI_FUNCTION(Iallreduce);
int PMPI_Iallreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                    MPI_Request* request) {
    return enter(args(sendbuf, recvbuf, count, datatype, op, comm, request), [&](Call& call) {
        start(call, allreduce(call, sendbuf, recvbuf, count, datatype, op, comm), request);
    });
}

TUTTI_FUNCTION(Ireduce_scatter);
int PMPI_Ireduce_scatter(const void* sendbuf, void* recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op,
                         MPI_Comm comm, MPI_Request* request) {
    return enter(args(sendbuf, recvbuf, recvcounts, datatype, op, comm, request), [&](Call& call) {
        start(call, reduce_scatter(call, sendbuf, recvbuf, recvcounts, datatype, op, comm), request);
    });
}

TUTTI_FUNCTION(Ireduce_scatter_block);
int PMPI_Ireduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op,
                               MPI_Comm comm, MPI_Request* request) {
    return enter(args(sendbuf, recvbuf, recvcount, datatype, op, comm, request), [&](Call& call) {
        coll::Lists lists;
        start(call, reduce_scatter_block(call, sendbuf, recvbuf, recvcount, datatype, op, comm, lists), request);
    });
}

TUTTI_FUNCTION(Iscan);
int PMPI_Iscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
               MPI_Request* request) {
    return enter(args(sendbuf, recvbuf, count, datatype, op, comm, request),
                 [&](Call& call) { start(call, scan(call, sendbuf, recvbuf, count, datatype, op, comm), request); });
}

TUTTI_FUNCTION(Iexscan);
int PMPI_Iexscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                 MPI_Request* request) {
    return enter(args(sendbuf, recvbuf, count, datatype, op, comm, request),
                 [&](Call& call) { start(call, exscan(call, sendbuf, recvbuf, count, datatype, op, comm), request); });
}

// Persistent forms (MPI 4.0, 6.13).

using namespace tutti;

TUTTI_FUNCTION(Barrier_init);
int PMPI_Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return enter(args(comm, info, request), [&](Call& call) { init(call, barrier(call, comm), info, request); });
}

TUTTI_FUNCTION(Bcast_init);
int PMPI_Bcast_init(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Info info,
                    MPI_Request* request) {
    return enter(args(buffer, count, datatype, root, comm, info, request),
                 [&](Call& call) { init(call, bcast(call, buffer, count, datatype, root, comm), info, request); });
}

TUTTI_FUNCTION(Reduce_init);
int PMPI_Reduce_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
                     MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return enter(args(sendbuf, recvbuf, count, datatype, op, root, comm, info, request), [&](Call& call) {
        init(call, reduce(call, sendbuf, recvbuf, count, datatype, op, root, comm), info, request);
    });
}

TUTTI_FUNCTION(Allreduce_init);
int PMPI_Allreduce_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                        MPI_Info info, MPI_Request* request) {
    return enter(args(sendbuf, recvbuf, count, datatype, op, comm, info, request), [&](Call& call) {
        init(call, allreduce(call, sendbuf, recvbuf, count, datatype, op, comm), info, request);
    });
}

TUTTI_FUNCTION(Reduce_scatter_init);
int PMPI_Reduce_scatter_init(const void* sendbuf, void* recvbuf, const int recvcounts[], MPI_Datatype datatype,
                             MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return enter(args(sendbuf, recvbuf, recvcounts, datatype, op, comm, info, request), [&](Call& call) {
        init(call, reduce_scatter(call, sendbuf, recvbuf, recvcounts, datatype, op, comm), info, request);
    });
}

TUTTI_FUNCTION(Reduce_scatter_block_init);
int PMPI_Reduce_scatter_block_init(const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op,
                                   MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return enter(args(sendbuf, recvbuf, recvcount, datatype, op, comm, info, request), [&](Call& call) {
        coll::Lists lists;
        init(call, reduce_scatter_block(call, sendbuf, recvbuf, recvcount, datatype, op, comm, lists), info, request);
    });
}

TUTTI_FUNCTION(Scan_init);
int PMPI_Scan_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                   MPI_Info info, MPI_Request* request) {
    return enter(args(sendbuf, recvbuf, count, datatype, op, comm, info, request), [&](Call& call) {
        init(call, scan(call, sendbuf, recvbuf, count, datatype, op, comm), info, request);
    });
}

TUTTI_FUNCTION(Exscan_init);
int PMPI_Exscan_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                     MPI_Info info, MPI_Request* request) {
    return enter(args(sendbuf, recvbuf, count, datatype, op, comm, info, request), [&](Call& call) {
        init(call, exscan(call, sendbuf, recvbuf, count, datatype, op, comm), info, request);
    });
}

using namespace tutti;

TUTTI_FUNCTION(Barrier);
int PMPI_Barrier(MPI_Comm comm) {
    return enter(args(comm), [&](Call& call) {
        call_collective<barrier>(call, comm, {coll::Collective::barrier}, no_buffers, comm);
    });
}

TUTTI_FUNCTION(Bcast);
int PMPI_Bcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm) {
    return enter(args(buffer, count, datatype, root, comm), [&](Call& call) {
        call_collective<bcast>(call, comm, {coll::Collective::bcast, count, datatype, root}, bcast_buffer(buffer),
                               buffer, count, datatype, root, comm);
    });
}

TUTTI_FUNCTION(Reduce);
int PMPI_Reduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
                MPI_Comm comm) {
    return enter(args(sendbuf, recvbuf, count, datatype, op, root, comm), [&](Call& call) {
        call_collective<reduce>(call, comm, {coll::Collective::reduce, count, datatype, op, root},
                                reduce_buffers(sendbuf, recvbuf), sendbuf, recvbuf, count, datatype, op, root, comm);
    });
}

TUTTI_FUNCTION(Allreduce);
int PMPI_Allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    return enter(args(sendbuf, recvbuf, count, datatype, op, comm), [&](Call& call) {
        call_collective<allreduce>(call, comm, {coll::Collective::allreduce, count, datatype, op},
                                   reduction_buffers(sendbuf, recvbuf), sendbuf, recvbuf, count, datatype, op, comm);
    });
}

TUTTI_FUNCTION(Reduce_scatter);
int PMPI_Reduce_scatter(const void* sendbuf, void* recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op,
                        MPI_Comm comm) {
    return enter(args(sendbuf, recvbuf, recvcounts, datatype, op, comm), [&](Call& call) {
        run(call, reduce_scatter(call, sendbuf, recvbuf, recvcounts, datatype, op, comm));
    });
}

TUTTI_FUNCTION(Reduce_scatter_block);
int PMPI_Reduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op,
                              MPI_Comm comm) {
    return enter(args(sendbuf, recvbuf, recvcount, datatype, op, comm), [&](Call& call) {
        coll::Lists lists;
        run(call, reduce_scatter_block(call, sendbuf, recvbuf, recvcount, datatype, op, comm, lists));
    });
}

TUTTI_FUNCTION(Scan);
int PMPI_Scan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    return enter(args(sendbuf, recvbuf, count, datatype, op, comm), [&](Call& call) {
        call_collective<scan>(call, comm, {coll::Collective::scan, count, datatype, op},
                              reduction_buffers(sendbuf, recvbuf), sendbuf, recvbuf, count, datatype, op, comm);
    });
}

TUTTI_FUNCTION(Exscan);
int PMPI_Exscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    return enter(args(sendbuf, recvbuf, count, datatype, op, comm), [&](Call& call) {
        call_collective<exscan>(call, comm, {coll::Collective::exscan, count, datatype, op},
                                reduction_buffers(sendbuf, recvbuf), sendbuf, recvbuf, count, datatype, op, comm);
    });
}
