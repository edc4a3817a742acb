// SPDX-License-Identifier: BSD-3-Clause
// The persistent calls of MPI 4. An older MPI may have them as an extension; one that has none has no functions here.
#include "operation.hpp"

#include <map>

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
void prepare_barrier(const Call &c, MPI_Request *request) { PREPARE(Barrier)(c.comm, MPI_INFO_NULL, request); }
void prepare_bcast(const Call &c, MPI_Request *request)
{
    PREPARE(Bcast)(c.rank == c.root ? const_cast<double *>(c.send) : c.receive, c.count, MPI_DOUBLE, c.root, c.comm,
                   MPI_INFO_NULL, request);
}
void prepare_reduce(const Call &c, MPI_Request *request)
{
    PREPARE(Reduce)(c.send, c.receive, c.count, MPI_DOUBLE, MPI_SUM, c.root, c.comm, MPI_INFO_NULL, request);
}
void prepare_allreduce(const Call &c, MPI_Request *request)
{
    PREPARE(Allreduce)(c.send, c.receive, c.count, MPI_DOUBLE, MPI_SUM, c.comm, MPI_INFO_NULL, request);
}
void prepare_gather(const Call &c, MPI_Request *request)
{
    PREPARE(Gather)(c.send, c.count, MPI_DOUBLE, c.receive, c.count, MPI_DOUBLE, c.root, c.comm, MPI_INFO_NULL,
                    request);
}
void prepare_gatherv(const Call &c, MPI_Request *request)
{
    PREPARE(Gatherv)(c.send, c.count, MPI_DOUBLE, c.receive, c.counts, c.places, MPI_DOUBLE, c.root, c.comm,
                     MPI_INFO_NULL, request);
}
void prepare_scatter(const Call &c, MPI_Request *request)
{
    PREPARE(Scatter)(c.send, c.count, MPI_DOUBLE, c.receive, c.count, MPI_DOUBLE, c.root, c.comm, MPI_INFO_NULL,
                     request);
}
void prepare_scatterv(const Call &c, MPI_Request *request)
{
    PREPARE(Scatterv)(c.send, c.counts, c.places, MPI_DOUBLE, c.receive, c.count, MPI_DOUBLE, c.root, c.comm,
                      MPI_INFO_NULL, request);
}
void prepare_allgather(const Call &c, MPI_Request *request)
{
    PREPARE(Allgather)(c.send, c.count, MPI_DOUBLE, c.receive, c.count, MPI_DOUBLE, c.comm, MPI_INFO_NULL, request);
}
void prepare_allgatherv(const Call &c, MPI_Request *request)
{
    PREPARE(Allgatherv)(c.send, c.count, MPI_DOUBLE, c.receive, c.counts, c.places, MPI_DOUBLE, c.comm, MPI_INFO_NULL,
                        request);
}
void prepare_alltoall(const Call &c, MPI_Request *request)
{
    PREPARE(Alltoall)(c.send, c.count, MPI_DOUBLE, c.receive, c.count, MPI_DOUBLE, c.comm, MPI_INFO_NULL, request);
}
void prepare_alltoallv(const Call &c, MPI_Request *request)
{
    PREPARE(Alltoallv)(c.send, c.counts, c.places, MPI_DOUBLE, c.receive, c.counts, c.places, MPI_DOUBLE, c.comm,
                       MPI_INFO_NULL, request);
}
void prepare_alltoallw(const Call &c, MPI_Request *request)
{
    PREPARE(Alltoallw)(c.send, c.counts, c.byte_places, c.types, c.receive, c.counts, c.byte_places, c.types, c.comm,
                       MPI_INFO_NULL, request);
}
void prepare_reduce_scatter(const Call &c, MPI_Request *request)
{
    PREPARE(Reduce_scatter)(c.send, c.receive, c.counts, MPI_DOUBLE, MPI_SUM, c.comm, MPI_INFO_NULL, request);
}
void prepare_reduce_scatter_block(const Call &c, MPI_Request *request)
{
    PREPARE(Reduce_scatter_block)(c.send, c.receive, c.count, MPI_DOUBLE, MPI_SUM, c.comm, MPI_INFO_NULL, request);
}
void prepare_scan(const Call &c, MPI_Request *request)
{
    PREPARE(Scan)(c.send, c.receive, c.count, MPI_DOUBLE, MPI_SUM, c.comm, MPI_INFO_NULL, request);
}
void prepare_exscan(const Call &c, MPI_Request *request)
{
    PREPARE(Exscan)(c.send, c.receive, c.count, MPI_DOUBLE, MPI_SUM, c.comm, MPI_INFO_NULL, request);
}
void prepare_neighbor_allgather(const Call &c, MPI_Request *request)
{
    PREPARE(Neighbor_allgather)(c.send, c.count, MPI_DOUBLE, c.receive, c.count, MPI_DOUBLE, c.comm, MPI_INFO_NULL,
                                request);
}
void prepare_neighbor_alltoall(const Call &c, MPI_Request *request)
{
    PREPARE(Neighbor_alltoall)(c.send, c.count, MPI_DOUBLE, c.receive, c.count, MPI_DOUBLE, c.comm, MPI_INFO_NULL,
                               request);
}
void prepare_neighbor_alltoallv(const Call &c, MPI_Request *request)
{
    PREPARE(Neighbor_alltoallv)(c.send, c.counts, c.places, MPI_DOUBLE, c.receive, c.counts, c.places, MPI_DOUBLE,
                                c.comm, MPI_INFO_NULL, request);
}
#endif

const std::map<std::string, Operation::Begin> &prepares()
{
    static const std::map<std::string, Operation::Begin> all = {
#if defined(PREPARE)
        {"barrier", prepare_barrier}, {"bcast", prepare_bcast}, {"reduce", prepare_reduce},
        {"allreduce", prepare_allreduce}, {"gather", prepare_gather}, {"gatherv", prepare_gatherv},
        {"scatter", prepare_scatter}, {"scatterv", prepare_scatterv}, {"allgather", prepare_allgather},
        {"allgatherv", prepare_allgatherv}, {"alltoall", prepare_alltoall}, {"alltoallv", prepare_alltoallv},
        {"alltoallw", prepare_alltoallw}, {"reduce_scatter", prepare_reduce_scatter},
        {"reduce_scatter_block", prepare_reduce_scatter_block}, {"scan", prepare_scan},
        {"exscan", prepare_exscan}, {"neighbor_allgather", prepare_neighbor_allgather},
        {"neighbor_alltoall", prepare_neighbor_alltoall}, {"neighbor_alltoallv", prepare_neighbor_alltoallv},
#endif
    };
    return all;
}

} // namespace

std::vector<Operation> persistent_operations(const std::vector<Operation> &nonblocking)
{
    std::vector<Operation> all;
    for (Operation operation : nonblocking) {
        const auto found = prepares().find(operation.blocking);
        operation.name = operation.blocking + "_init";
        operation.sentence = "MPI_Start and MPI_Wait of a persistent " + operation.blocking;
        operation.start = nullptr;
        operation.prepare = found == prepares().end() ? nullptr : found->second;
        all.push_back(operation);
    }
    return all;
}

} // namespace bench
