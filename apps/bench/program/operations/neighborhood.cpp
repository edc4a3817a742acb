// SPDX-License-Identifier: BSD-3-Clause
// The neighbourhood's calls: each rank of the grid with the four around it, as a stencil of two dimensions has them.
#include "operation.hpp"

namespace bench {
namespace {

double from_neighbor(const Call &call, std::size_t index, int iteration)
{
    return value(call.grid.around[index / std::size_t(call.count)], index % std::size_t(call.count), iteration);
}

// The neighbour before me sends me what it has for the rank after it, and the other way round. In a dimension of one or
// two ranks both neighbours are the same rank, and MPIs differ on which of its two blocks comes first.
double my_block_of_neighbor(const Call &call, std::size_t index, int iteration)
{
    const std::size_t count = std::size_t(call.count), block = index / count, other = block ^ 1;
    const int neighbor = call.grid.around[block];
    const double same = value(neighbor, index, iteration);
    if (call.grid.extent[block / 2] <= 2 && call.receive[index] == same)
        return same;
    return value(neighbor, other * count + index % count, iteration);
}

void run_neighbor_allgather(const Call &c)
{
    MPI_Neighbor_allgather(c.send, c.count, MPI_DOUBLE, c.receive, c.count, MPI_DOUBLE, c.comm);
}
void run_neighbor_alltoall(const Call &c)
{
    MPI_Neighbor_alltoall(c.send, c.count, MPI_DOUBLE, c.receive, c.count, MPI_DOUBLE, c.comm);
}
void run_neighbor_alltoallv(const Call &c)
{
    MPI_Neighbor_alltoallv(c.send, c.counts, c.places, MPI_DOUBLE, c.receive, c.counts, c.places, MPI_DOUBLE, c.comm);
}

} // namespace

std::vector<Operation> neighborhood_operations()
{
    constexpr Blocks one = Blocks::one, each = Blocks::one_per_neighbor;
    return {
        {"neighbor_allgather", "MPI_Neighbor_allgather", one, each, false, 1, run_neighbor_allgather, always,
         from_neighbor},
        {"neighbor_alltoall", "MPI_Neighbor_alltoall", each, each, false, 1, run_neighbor_alltoall, always,
         my_block_of_neighbor},
        {"neighbor_alltoallv", "MPI_Neighbor_alltoallv", each, each, false, 1, run_neighbor_alltoallv, always,
         my_block_of_neighbor},
    };
}

} // namespace bench
