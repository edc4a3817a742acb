// SPDX-License-Identifier: BSD-3-Clause
// The nonblocking calls. Each is measured with its MPI_Wait, and by --overlap with a computation between the two.
#include "operation.hpp"

#include <map>

namespace bench {
namespace {

void start_barrier(const Call &c, MPI_Request *request) { MPI_Ibarrier(c.comm, request); }
void start_bcast(const Call &c, MPI_Request *request)
{
    MPI_Ibcast(c.rank == c.root ? const_cast<double *>(c.send) : c.receive, c.count, MPI_DOUBLE, c.root, c.comm,
               request);
}
void start_reduce(const Call &c, MPI_Request *request)
{
    MPI_Ireduce(c.send, c.receive, c.count, MPI_DOUBLE, MPI_SUM, c.root, c.comm, request);
}
void start_allreduce(const Call &c, MPI_Request *request)
{
    MPI_Iallreduce(c.send, c.receive, c.count, MPI_DOUBLE, MPI_SUM, c.comm, request);
}
void start_gather(const Call &c, MPI_Request *request)
{
    MPI_Igather(c.send, c.count, MPI_DOUBLE, c.receive, c.count, MPI_DOUBLE, c.root, c.comm, request);
}
void start_gatherv(const Call &c, MPI_Request *request)
{
    MPI_Igatherv(c.send, c.count, MPI_DOUBLE, c.receive, c.counts, c.places, MPI_DOUBLE, c.root, c.comm, request);
}
void start_scatter(const Call &c, MPI_Request *request)
{
    MPI_Iscatter(c.send, c.count, MPI_DOUBLE, c.receive, c.count, MPI_DOUBLE, c.root, c.comm, request);
}
void start_scatterv(const Call &c, MPI_Request *request)
{
    MPI_Iscatterv(c.send, c.counts, c.places, MPI_DOUBLE, c.receive, c.count, MPI_DOUBLE, c.root, c.comm, request);
}
void start_allgather(const Call &c, MPI_Request *request)
{
    MPI_Iallgather(c.send, c.count, MPI_DOUBLE, c.receive, c.count, MPI_DOUBLE, c.comm, request);
}
void start_allgatherv(const Call &c, MPI_Request *request)
{
    MPI_Iallgatherv(c.send, c.count, MPI_DOUBLE, c.receive, c.counts, c.places, MPI_DOUBLE, c.comm, request);
}
void start_alltoall(const Call &c, MPI_Request *request)
{
    MPI_Ialltoall(c.send, c.count, MPI_DOUBLE, c.receive, c.count, MPI_DOUBLE, c.comm, request);
}
void start_alltoallv(const Call &c, MPI_Request *request)
{
    MPI_Ialltoallv(c.send, c.counts, c.places, MPI_DOUBLE, c.receive, c.counts, c.places, MPI_DOUBLE, c.comm, request);
}
void start_alltoallw(const Call &c, MPI_Request *request)
{
    MPI_Ialltoallw(c.send, c.counts, c.byte_places, c.types, c.receive, c.counts, c.byte_places, c.types, c.comm,
                   request);
}
void start_reduce_scatter(const Call &c, MPI_Request *request)
{
    MPI_Ireduce_scatter(c.send, c.receive, c.counts, MPI_DOUBLE, MPI_SUM, c.comm, request);
}
void start_reduce_scatter_block(const Call &c, MPI_Request *request)
{
    MPI_Ireduce_scatter_block(c.send, c.receive, c.count, MPI_DOUBLE, MPI_SUM, c.comm, request);
}
void start_scan(const Call &c, MPI_Request *request)
{
    MPI_Iscan(c.send, c.receive, c.count, MPI_DOUBLE, MPI_SUM, c.comm, request);
}
void start_exscan(const Call &c, MPI_Request *request)
{
    MPI_Iexscan(c.send, c.receive, c.count, MPI_DOUBLE, MPI_SUM, c.comm, request);
}
void start_neighbor_allgather(const Call &c, MPI_Request *request)
{
    MPI_Ineighbor_allgather(c.send, c.count, MPI_DOUBLE, c.receive, c.count, MPI_DOUBLE, c.comm, request);
}
void start_neighbor_alltoall(const Call &c, MPI_Request *request)
{
    MPI_Ineighbor_alltoall(c.send, c.count, MPI_DOUBLE, c.receive, c.count, MPI_DOUBLE, c.comm, request);
}
void start_neighbor_alltoallv(const Call &c, MPI_Request *request)
{
    MPI_Ineighbor_alltoallv(c.send, c.counts, c.places, MPI_DOUBLE, c.receive, c.counts, c.places, MPI_DOUBLE, c.comm,
                            request);
}

} // namespace

std::vector<Operation> nonblocking_operations(const std::vector<Operation> &blocking)
{
    static const std::map<std::string, Operation::Begin> starts = {
        {"barrier", start_barrier}, {"bcast", start_bcast}, {"reduce", start_reduce},
        {"allreduce", start_allreduce}, {"gather", start_gather}, {"gatherv", start_gatherv},
        {"scatter", start_scatter}, {"scatterv", start_scatterv}, {"allgather", start_allgather},
        {"allgatherv", start_allgatherv}, {"alltoall", start_alltoall}, {"alltoallv", start_alltoallv},
        {"alltoallw", start_alltoallw}, {"reduce_scatter", start_reduce_scatter},
        {"reduce_scatter_block", start_reduce_scatter_block}, {"scan", start_scan}, {"exscan", start_exscan},
        {"neighbor_allgather", start_neighbor_allgather}, {"neighbor_alltoall", start_neighbor_alltoall},
        {"neighbor_alltoallv", start_neighbor_alltoallv},
    };
    std::vector<Operation> all;
    for (Operation operation : blocking) {
        const auto found = starts.find(operation.name);
        if (found == starts.end())
            continue; // messages
        operation.name = "i" + operation.blocking;
        operation.sentence = "MPI_I" + operation.blocking + " and MPI_Wait";
        operation.run = nullptr;
        operation.start = found->second;
        all.push_back(operation);
    }
    return all;
}

} // namespace bench
