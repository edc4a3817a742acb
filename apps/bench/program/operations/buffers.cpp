// SPDX-License-Identifier: BSD-3-Clause
#include "buffers.hpp"

#include <algorithm>

namespace bench {
namespace {

std::size_t numbers(Blocks blocks, int count, int ranks)
{
    switch (blocks) {
    case Blocks::none: return 0;
    case Blocks::one: return std::size_t(count);
    case Blocks::one_per_rank: return std::size_t(count) * std::size_t(ranks);
    case Blocks::one_per_neighbor: return std::size_t(count) * Grid::neighbors;
    }
    return 0;
}

Grid grid_of(MPI_Comm comm)
{
    Grid grid{};
    int periods[2], coordinates[2];
    MPI_Cart_get(comm, 2, grid.extent, periods, coordinates);
    for (int dimension = 0; dimension < 2; ++dimension)
        MPI_Cart_shift(comm, dimension, 1, &grid.around[2 * dimension], &grid.around[2 * dimension + 1]);
    return grid;
}

} // namespace

Room::Room(const Operation &operation, std::size_t bytes, MPI_Comm comm)
{
    MPI_Comm_size(comm, &ranks);
    peers = operation.has_neighbors() ? Grid::neighbors : ranks;
    count = int(bytes / sizeof(double));
    send = numbers(operation.send, count, ranks);
    receive = numbers(operation.receive, count, ranks);
}

Buffers::Buffers(const Room &room, double *send_memory, double *receive_memory, MPI_Comm comm)
    : send_(send_memory, room.send), receive_(receive_memory, room.receive)
{
    MPI_Comm_rank(comm, &call.rank);
    call.ranks = room.ranks;
    call.count = room.count;
    call.comm = comm;
    counts_.assign(std::size_t(room.peers), call.count);
    types_.assign(std::size_t(room.peers), MPI_DOUBLE);
    for (int peer = 0; peer < room.peers; ++peer) {
        places_.push_back(peer * call.count);
        byte_places_.push_back(peer * call.count * int(sizeof(double)));
    }
    int topology = MPI_UNDEFINED;
    MPI_Topo_test(comm, &topology);
    if (topology == MPI_CART)
        call.grid = grid_of(comm);
    call.send = send_.data();
    call.receive = receive_.data();
    call.counts = counts_.data();
    call.places = places_.data();
    call.byte_places = byte_places_.data();
    call.types = types_.data();
}

void Buffers::alter(int iteration)
{
    for (std::size_t i = 0; i < send_.size(); ++i)
        send_[i] = value(call.rank, i, iteration);
    std::fill(receive_.begin(), receive_.end(), -1.0);
}

void Buffers::touch(int iteration, bool last)
{
    constexpr std::size_t line = 64 / sizeof(double);
    for (std::size_t i = 0; i < send_.size(); i += line)
        send_[i] = last ? value(call.rank, i, iteration) : double(-iteration);
    for (std::size_t i = 0; i < receive_.size(); i += line)
        receive_[i] = -1.0;
}

std::string Buffers::wrong(const Operation &operation, int iteration, bool all) const
{
    if (operation.examine)
        return all ? operation.examine(call) : "";
    if (!operation.receives(call))
        return "";
    const std::size_t stride = all || receive_.size() < 512 ? 1 : receive_.size() / 61;
    for (std::size_t i = 0; i < receive_.size(); i += stride) {
        const double expected = operation.expected(call, i, iteration);
        if (receive_[i] != expected)
            return "rank " + std::to_string(call.rank) + ", iteration " + std::to_string(iteration) + ", number " +
                   std::to_string(i) + ": " + std::to_string(receive_[i]) + " instead of " + std::to_string(expected);
    }
    return "";
}

} // namespace bench
