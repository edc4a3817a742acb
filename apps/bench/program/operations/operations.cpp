// SPDX-License-Identifier: BSD-3-Clause
// The blocking calls and what they must deliver; all groups of operations.
#include "operation.hpp"

namespace bench {
namespace {

bool never(const Call &) { return false; }
bool at_root(const Call &call) { return call.rank == call.root; }
bool not_first(const Call &call) { return call.rank > 0; }

double sum_of(int first, int last, std::size_t index, int iteration)
{
    double sum = 0;
    for (int rank = first; rank < last; ++rank)
        sum += value(rank, index, iteration);
    return sum;
}

double from_root(const Call &call, std::size_t index, int iteration) { return value(call.root, index, iteration); }
double from_all(const Call &call, std::size_t index, int iteration)
{
    return value(int(index / call.count), index % call.count, iteration);
}
double my_share_of_root(const Call &call, std::size_t index, int iteration)
{
    return value(call.root, index + std::size_t(call.rank) * call.count, iteration);
}
double my_share_of_all(const Call &call, std::size_t index, int iteration)
{
    return value(int(index / call.count), index % call.count + std::size_t(call.rank) * call.count, iteration);
}
double sum_of_all(const Call &call, std::size_t index, int iteration)
{
    return sum_of(0, call.ranks, index, iteration);
}
double sum_of_my_share(const Call &call, std::size_t index, int iteration)
{
    return sum_of(0, call.ranks, index + std::size_t(call.rank) * call.count, iteration);
}
double sum_up_to_me(const Call &call, std::size_t index, int iteration)
{
    return sum_of(0, call.rank + 1, index, iteration);
}
double sum_before_me(const Call &call, std::size_t index, int iteration)
{
    return sum_of(0, call.rank, index, iteration);
}

bool in_pair(const Call &call) { return call.rank < 2 && call.ranks > 1; }
double from_partner(const Call &call, std::size_t index, int iteration)
{
    return value(1 - call.rank, index, iteration);
}

void run_pingpong(const Call &c)
{
    if (!in_pair(c))
        return;
    if (c.rank == 0)
        MPI_Send(c.send, c.count, MPI_DOUBLE, 1, 1, c.comm);
    MPI_Recv(c.receive, c.count, MPI_DOUBLE, 1 - c.rank, 1, c.comm, MPI_STATUS_IGNORE);
    if (c.rank == 1)
        MPI_Send(c.send, c.count, MPI_DOUBLE, 0, 1, c.comm);
}

double from_left(const Call &call, std::size_t index, int iteration)
{
    return value((call.rank + call.ranks - 1) % call.ranks, index, iteration);
}
void run_sendrecv(const Call &c)
{
    MPI_Sendrecv(c.send, c.count, MPI_DOUBLE, (c.rank + 1) % c.ranks, 1, c.receive, c.count, MPI_DOUBLE,
                 (c.rank + c.ranks - 1) % c.ranks, 1, c.comm, MPI_STATUS_IGNORE);
}

void run_barrier(const Call &c) { MPI_Barrier(c.comm); }
void run_bcast(const Call &c)
{
    // The root's data comes from the send buffer, so that a broadcast that does nothing is noticed.
    MPI_Bcast(c.rank == c.root ? const_cast<double *>(c.send) : c.receive, c.count, MPI_DOUBLE, c.root, c.comm);
}
bool not_root(const Call &call) { return call.rank != call.root; }
void run_reduce(const Call &c) { MPI_Reduce(c.send, c.receive, c.count, MPI_DOUBLE, MPI_SUM, c.root, c.comm); }
void run_allreduce(const Call &c) { MPI_Allreduce(c.send, c.receive, c.count, MPI_DOUBLE, MPI_SUM, c.comm); }
void run_gather(const Call &c)
{
    MPI_Gather(c.send, c.count, MPI_DOUBLE, c.receive, c.count, MPI_DOUBLE, c.root, c.comm);
}
void run_gatherv(const Call &c)
{
    MPI_Gatherv(c.send, c.count, MPI_DOUBLE, c.receive, c.counts, c.places, MPI_DOUBLE, c.root, c.comm);
}
void run_scatter(const Call &c)
{
    MPI_Scatter(c.send, c.count, MPI_DOUBLE, c.receive, c.count, MPI_DOUBLE, c.root, c.comm);
}
void run_scatterv(const Call &c)
{
    MPI_Scatterv(c.send, c.counts, c.places, MPI_DOUBLE, c.receive, c.count, MPI_DOUBLE, c.root, c.comm);
}
void run_allgather(const Call &c)
{
    MPI_Allgather(c.send, c.count, MPI_DOUBLE, c.receive, c.count, MPI_DOUBLE, c.comm);
}
void run_allgatherv(const Call &c)
{
    MPI_Allgatherv(c.send, c.count, MPI_DOUBLE, c.receive, c.counts, c.places, MPI_DOUBLE, c.comm);
}
void run_alltoall(const Call &c)
{
    MPI_Alltoall(c.send, c.count, MPI_DOUBLE, c.receive, c.count, MPI_DOUBLE, c.comm);
}
void run_alltoallv(const Call &c)
{
    MPI_Alltoallv(c.send, c.counts, c.places, MPI_DOUBLE, c.receive, c.counts, c.places, MPI_DOUBLE, c.comm);
}
void run_alltoallw(const Call &c)
{
    MPI_Alltoallw(c.send, c.counts, c.byte_places, c.types, c.receive, c.counts, c.byte_places, c.types, c.comm);
}
void run_reduce_scatter(const Call &c)
{
    MPI_Reduce_scatter(c.send, c.receive, c.counts, MPI_DOUBLE, MPI_SUM, c.comm);
}
void run_reduce_scatter_block(const Call &c)
{
    MPI_Reduce_scatter_block(c.send, c.receive, c.count, MPI_DOUBLE, MPI_SUM, c.comm);
}
void run_scan(const Call &c) { MPI_Scan(c.send, c.receive, c.count, MPI_DOUBLE, MPI_SUM, c.comm); }
void run_exscan(const Call &c) { MPI_Exscan(c.send, c.receive, c.count, MPI_DOUBLE, MPI_SUM, c.comm); }

std::vector<Operation> blocking_operations()
{
    constexpr Blocks none = Blocks::none, one = Blocks::one, each = Blocks::one_per_rank;
    return {
        {"pingpong", "half a round trip between ranks 0 and 1", one, one, false, 0.5, run_pingpong, in_pair,
         from_partner},
        {"sendrecv", "MPI_Sendrecv, each rank to the next one, all at once", one, one, false, 1, run_sendrecv, always,
         from_left},
        {"barrier", "MPI_Barrier", none, none, false, 1, run_barrier, never, from_root},
        {"bcast", "MPI_Bcast", one, one, true, 1, run_bcast, not_root, from_root},
        {"reduce", "MPI_Reduce, sum of doubles", one, one, true, 1, run_reduce, at_root, sum_of_all},
        {"allreduce", "MPI_Allreduce, sum of doubles", one, one, false, 1, run_allreduce, always, sum_of_all},
        {"gather", "MPI_Gather", one, each, true, 1, run_gather, at_root, from_all},
        {"gatherv", "MPI_Gatherv", one, each, true, 1, run_gatherv, at_root, from_all},
        {"scatter", "MPI_Scatter", each, one, true, 1, run_scatter, always, my_share_of_root},
        {"scatterv", "MPI_Scatterv", each, one, true, 1, run_scatterv, always, my_share_of_root},
        {"allgather", "MPI_Allgather", one, each, false, 1, run_allgather, always, from_all},
        {"allgatherv", "MPI_Allgatherv", one, each, false, 1, run_allgatherv, always, from_all},
        {"alltoall", "MPI_Alltoall", each, each, false, 1, run_alltoall, always, my_share_of_all},
        {"alltoallv", "MPI_Alltoallv", each, each, false, 1, run_alltoallv, always, my_share_of_all},
        {"alltoallw", "MPI_Alltoallw", each, each, false, 1, run_alltoallw, always, my_share_of_all},
        {"reduce_scatter", "MPI_Reduce_scatter, sum of doubles", each, one, false, 1, run_reduce_scatter, always,
         sum_of_my_share},
        {"reduce_scatter_block", "MPI_Reduce_scatter_block, sum of doubles", each, one, false, 1,
         run_reduce_scatter_block, always, sum_of_my_share},
        {"scan", "MPI_Scan, sum of doubles", one, one, false, 1, run_scan, always, sum_up_to_me},
        {"exscan", "MPI_Exscan, sum of doubles", one, one, false, 1, run_exscan, not_first, sum_before_me},
    };
}

std::vector<Group> make_groups()
{
    const std::vector<Operation> blocking = blocking_operations(), neighborhood = neighborhood_operations();
    std::vector<Operation> all = blocking;
    all.insert(all.end(), neighborhood.begin(), neighborhood.end());
    const std::vector<Operation> nonblocking = nonblocking_operations(all);
    return {{"blocking", "a call that does it all", blocking},
            {"neighborhood", "the same between the neighbours of a grid of two dimensions that is closed in both",
             neighborhood},
            {"nonblocking", "a call that starts it, and MPI_Wait", nonblocking},
            {"persistent", "MPI_Start and MPI_Wait, the request having been made beforehand",
             persistent_operations(nonblocking)},
            {"communicators", "making a communicator and freeing it, one after the other", communicator_operations()},
            {"rma",
             "one-sided, from rank 0 to rank 1, with its synchronisation; and synchronisations alone, of all ranks",
             one_sided_operations()}};
}

} // namespace

const std::vector<Group> &groups()
{
    static const std::vector<Group> all = make_groups();
    return all;
}

std::string Operation::collective() const
{
    for (const std::string form : {"_block", "v", "w"}) // of other sizes, the same data
        if (blocking.ends_with(form))
            return blocking.substr(0, blocking.size() - form.size());
    return blocking;
}

const Operation *find_operation(const std::string &name)
{
    for (const Group &group : groups())
        for (const Operation &operation : group.operations)
            if (operation.name == name)
                return &operation;
    return nullptr;
}

} // namespace bench
