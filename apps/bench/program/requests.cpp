// SPDX-License-Identifier: BSD-3-Clause
// Nonblocking and persistent operations. Each is measured with its MPI_Wait, and by --overlap with a computation
// between the two calls.
#include <map>

#include "operation.hpp"

namespace bench {
namespace {

void start_barrier(Call const& c, MPI_Request* request) { MPI_Ibarrier(c.comm, request); }
void start_bcast(Call const& c, MPI_Request* request) {
    MPI_Ibcast(c.rank == c.root ? const_cast<double*>(c.send) : c.receive, c.count, MPI_DOUBLE, c.root, c.comm,
               request);
}
void start_reduce(Call const& c, MPI_Request* request) {
    MPI_Ireduce(c.send, c.receive, c.count, MPI_DOUBLE, MPI_SUM, c.root, c.comm, request);
}
void start_allreduce(Call const& c, MPI_Request* request) {
    MPI_Iallreduce(c.send, c.receive, c.count, MPI_DOUBLE, MPI_SUM, c.comm, request);
}
void start_gather(Call const& c, MPI_Request* request) {
    MPI_Igather(c.send, c.count, MPI_DOUBLE, c.receive, c.count, MPI_DOUBLE, c.root, c.comm, request);
}
void start_gatherv(Call const& c, MPI_Request* request) {
    MPI_Igatherv(c.send, c.count, MPI_DOUBLE, c.receive, c.counts, c.displacements, MPI_DOUBLE, c.root, c.comm,
                 request);
}
void start_scatter(Call const& c, MPI_Request* request) {
    MPI_Iscatter(c.send, c.count, MPI_DOUBLE, c.receive, c.count, MPI_DOUBLE, c.root, c.comm, request);
}
void start_scatterv(Call const& c, MPI_Request* request) {
    MPI_Iscatterv(c.send, c.counts, c.displacements, MPI_DOUBLE, c.receive, c.count, MPI_DOUBLE, c.root, c.comm,
                  request);
}
void start_allgather(Call const& c, MPI_Request* request) {
    MPI_Iallgather(c.send, c.count, MPI_DOUBLE, c.receive, c.count, MPI_DOUBLE, c.comm, request);
}
void start_allgatherv(Call const& c, MPI_Request* request) {
    MPI_Iallgatherv(c.send, c.count, MPI_DOUBLE, c.receive, c.counts, c.displacements, MPI_DOUBLE, c.comm, request);
}
void start_alltoall(Call const& c, MPI_Request* request) {
    MPI_Ialltoall(c.send, c.count, MPI_DOUBLE, c.receive, c.count, MPI_DOUBLE, c.comm, request);
}
void start_alltoallv(Call const& c, MPI_Request* request) {
    MPI_Ialltoallv(c.send, c.counts, c.displacements, MPI_DOUBLE, c.receive, c.counts, c.displacements, MPI_DOUBLE,
                   c.comm, request);
}
void start_alltoallw(Call const& c, MPI_Request* request) {
    MPI_Ialltoallw(c.send, c.counts, c.byte_displacements, c.types, c.receive, c.counts, c.byte_displacements, c.types,
                   c.comm, request);
}
void start_reduce_scatter(Call const& c, MPI_Request* request) {
    MPI_Ireduce_scatter(c.send, c.receive, c.counts, MPI_DOUBLE, MPI_SUM, c.comm, request);
}
void start_reduce_scatter_block(Call const& c, MPI_Request* request) {
    MPI_Ireduce_scatter_block(c.send, c.receive, c.count, MPI_DOUBLE, MPI_SUM, c.comm, request);
}
void start_scan(Call const& c, MPI_Request* request) {
    MPI_Iscan(c.send, c.receive, c.count, MPI_DOUBLE, MPI_SUM, c.comm, request);
}
void start_exscan(Call const& c, MPI_Request* request) {
    MPI_Iexscan(c.send, c.receive, c.count, MPI_DOUBLE, MPI_SUM, c.comm, request);
}
void start_neighbor_allgather(Call const& c, MPI_Request* request) {
    MPI_Ineighbor_allgather(c.send, c.count, MPI_DOUBLE, c.receive, c.count, MPI_DOUBLE, c.comm, request);
}
void start_neighbor_alltoall(Call const& c, MPI_Request* request) {
    MPI_Ineighbor_alltoall(c.send, c.count, MPI_DOUBLE, c.receive, c.count, MPI_DOUBLE, c.comm, request);
}
void start_neighbor_alltoallv(Call const& c, MPI_Request* request) {
    MPI_Ineighbor_alltoallv(c.send, c.counts, c.displacements, MPI_DOUBLE, c.receive, c.counts, c.displacements,
                            MPI_DOUBLE, c.comm, request);
}

}   // namespace

std::vector<Operation> nonblocking_operations(std::vector<Operation> const& blocking) {
    static const std::map<std::string, Operation::Begin> starts = {
        {"barrier", start_barrier},
        {"bcast", start_bcast},
        {"reduce", start_reduce},
        {"allreduce", start_allreduce},
        {"gather", start_gather},
        {"gatherv", start_gatherv},
        {"scatter", start_scatter},
        {"scatterv", start_scatterv},
        {"allgather", start_allgather},
        {"allgatherv", start_allgatherv},
        {"alltoall", start_alltoall},
        {"alltoallv", start_alltoallv},
        {"alltoallw", start_alltoallw},
        {"reduce_scatter", start_reduce_scatter},
        {"reduce_scatter_block", start_reduce_scatter_block},
        {"scan", start_scan},
        {"exscan", start_exscan},
        {"neighbor_allgather", start_neighbor_allgather},
        {"neighbor_alltoall", start_neighbor_alltoall},
        {"neighbor_alltoallv", start_neighbor_alltoallv},
    };
    std::vector<Operation> all;
    for (Operation operation : blocking) {
        auto const found = starts.find(operation.name);
        if (found == starts.end()) continue;   // point-to-point messages
        operation.name = "i" + operation.blocking;
        operation.description = "MPI_I" + operation.blocking + " and MPI_Wait";
        operation.run = nullptr;
        operation.start = found->second;
        all.push_back(operation);
    }
    return all;
}

}   // namespace bench

// The persistent collectives of MPI 4. An older MPI may have them as an extension; for one that has none, this part
// defines no operations.

#if MPI_VERSION >= 4 || defined(TUTTI_VERSION)
#define PREPARE(call) MPI_##call##_init
#elif defined(OPEN_MPI)
#include <mpi-ext.h>
#if defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
#define PREPARE(call) MPIX_##call##_init
#endif
#endif

namespace bench {
namespace {

#if defined(PREPARE)
void prepare_barrier(Call const& c, MPI_Request* request) { PREPARE(Barrier)(c.comm, MPI_INFO_NULL, request); }
void prepare_bcast(Call const& c, MPI_Request* request) {
    PREPARE(Bcast)
    (c.rank == c.root ? const_cast<double*>(c.send) : c.receive, c.count, MPI_DOUBLE, c.root, c.comm, MPI_INFO_NULL,
     request);
}
void prepare_reduce(Call const& c, MPI_Request* request) {
    PREPARE(Reduce)(c.send, c.receive, c.count, MPI_DOUBLE, MPI_SUM, c.root, c.comm, MPI_INFO_NULL, request);
}
void prepare_allreduce(Call const& c, MPI_Request* request) {
    PREPARE(Allreduce)(c.send, c.receive, c.count, MPI_DOUBLE, MPI_SUM, c.comm, MPI_INFO_NULL, request);
}
void prepare_gather(Call const& c, MPI_Request* request) {
    PREPARE(Gather)
    (c.send, c.count, MPI_DOUBLE, c.receive, c.count, MPI_DOUBLE, c.root, c.comm, MPI_INFO_NULL, request);
}
void prepare_gatherv(Call const& c, MPI_Request* request) {
    PREPARE(Gatherv)
    (c.send, c.count, MPI_DOUBLE, c.receive, c.counts, c.displacements, MPI_DOUBLE, c.root, c.comm, MPI_INFO_NULL,
     request);
}
void prepare_scatter(Call const& c, MPI_Request* request) {
    PREPARE(Scatter)
    (c.send, c.count, MPI_DOUBLE, c.receive, c.count, MPI_DOUBLE, c.root, c.comm, MPI_INFO_NULL, request);
}
void prepare_scatterv(Call const& c, MPI_Request* request) {
    PREPARE(Scatterv)
    (c.send, c.counts, c.displacements, MPI_DOUBLE, c.receive, c.count, MPI_DOUBLE, c.root, c.comm, MPI_INFO_NULL,
     request);
}
void prepare_allgather(Call const& c, MPI_Request* request) {
    PREPARE(Allgather)(c.send, c.count, MPI_DOUBLE, c.receive, c.count, MPI_DOUBLE, c.comm, MPI_INFO_NULL, request);
}
void prepare_allgatherv(Call const& c, MPI_Request* request) {
    PREPARE(Allgatherv)
    (c.send, c.count, MPI_DOUBLE, c.receive, c.counts, c.displacements, MPI_DOUBLE, c.comm, MPI_INFO_NULL, request);
}
void prepare_alltoall(Call const& c, MPI_Request* request) {
    PREPARE(Alltoall)(c.send, c.count, MPI_DOUBLE, c.receive, c.count, MPI_DOUBLE, c.comm, MPI_INFO_NULL, request);
}
void prepare_alltoallv(Call const& c, MPI_Request* request) {
    PREPARE(Alltoallv)
    (c.send, c.counts, c.displacements, MPI_DOUBLE, c.receive, c.counts, c.displacements, MPI_DOUBLE, c.comm,
     MPI_INFO_NULL, request);
}
void prepare_alltoallw(Call const& c, MPI_Request* request) {
    PREPARE(Alltoallw)
    (c.send, c.counts, c.byte_displacements, c.types, c.receive, c.counts, c.byte_displacements, c.types, c.comm,
     MPI_INFO_NULL, request);
}
void prepare_reduce_scatter(Call const& c, MPI_Request* request) {
    PREPARE(Reduce_scatter)(c.send, c.receive, c.counts, MPI_DOUBLE, MPI_SUM, c.comm, MPI_INFO_NULL, request);
}
void prepare_reduce_scatter_block(Call const& c, MPI_Request* request) {
    PREPARE(Reduce_scatter_block)(c.send, c.receive, c.count, MPI_DOUBLE, MPI_SUM, c.comm, MPI_INFO_NULL, request);
}
void prepare_scan(Call const& c, MPI_Request* request) {
    PREPARE(Scan)(c.send, c.receive, c.count, MPI_DOUBLE, MPI_SUM, c.comm, MPI_INFO_NULL, request);
}
void prepare_exscan(Call const& c, MPI_Request* request) {
    PREPARE(Exscan)(c.send, c.receive, c.count, MPI_DOUBLE, MPI_SUM, c.comm, MPI_INFO_NULL, request);
}
void prepare_neighbor_allgather(Call const& c, MPI_Request* request) {
    PREPARE(Neighbor_allgather)
    (c.send, c.count, MPI_DOUBLE, c.receive, c.count, MPI_DOUBLE, c.comm, MPI_INFO_NULL, request);
}
void prepare_neighbor_alltoall(Call const& c, MPI_Request* request) {
    PREPARE(Neighbor_alltoall)
    (c.send, c.count, MPI_DOUBLE, c.receive, c.count, MPI_DOUBLE, c.comm, MPI_INFO_NULL, request);
}
void prepare_neighbor_alltoallv(Call const& c, MPI_Request* request) {
    PREPARE(Neighbor_alltoallv)
    (c.send, c.counts, c.displacements, MPI_DOUBLE, c.receive, c.counts, c.displacements, MPI_DOUBLE, c.comm,
     MPI_INFO_NULL, request);
}
#endif

std::map<std::string, Operation::Begin> const& prepares() {
    static const std::map<std::string, Operation::Begin> all = {
#if defined(PREPARE)
        {"barrier", prepare_barrier},
        {"bcast", prepare_bcast},
        {"reduce", prepare_reduce},
        {"allreduce", prepare_allreduce},
        {"gather", prepare_gather},
        {"gatherv", prepare_gatherv},
        {"scatter", prepare_scatter},
        {"scatterv", prepare_scatterv},
        {"allgather", prepare_allgather},
        {"allgatherv", prepare_allgatherv},
        {"alltoall", prepare_alltoall},
        {"alltoallv", prepare_alltoallv},
        {"alltoallw", prepare_alltoallw},
        {"reduce_scatter", prepare_reduce_scatter},
        {"reduce_scatter_block", prepare_reduce_scatter_block},
        {"scan", prepare_scan},
        {"exscan", prepare_exscan},
        {"neighbor_allgather", prepare_neighbor_allgather},
        {"neighbor_alltoall", prepare_neighbor_alltoall},
        {"neighbor_alltoallv", prepare_neighbor_alltoallv},
#endif
    };
    return all;
}

}   // namespace

std::vector<Operation> persistent_operations(std::vector<Operation> const& nonblocking) {
    std::vector<Operation> all;
    for (Operation operation : nonblocking) {
        auto const found = prepares().find(operation.blocking);
        operation.name = operation.blocking + "_init";
        operation.description = "MPI_Start and MPI_Wait of a persistent " + operation.blocking;
        operation.start = nullptr;
        operation.prepare = found == prepares().end() ? nullptr : found->second;
        all.push_back(operation);
    }
    return all;
}

}   // namespace bench
