// SPDX-License-Identifier: BSD-3-Clause
// What messages take inside a node and between nodes: the parameters of models (--model).
#include "measure.hpp"

#include <algorithm>

namespace bench {
namespace {

/// Sends `bytes` bytes from rank 0 to `peer` and back several times; the other ranks do nothing. Returns the median of
/// half a round trip, less the time of reading the clock, on rank 0.
double half_round_trip(int peer, std::size_t bytes, MPI_Comm comm) {
    constexpr int tag = 1, warmup = 5, least = 20;
    constexpr double seconds = 0.05;
    int rank;
    MPI_Comm_rank(comm, &rank);
    if (rank != 0 && rank != peer) return 0;
    std::vector<double> buffer = make_buffer(bytes / sizeof(double)), times;
    int const other = rank == 0 ? peer : 0, count = int(bytes / sizeof(double));
    double const end = now_us() + seconds * 1e6;
    for (int number = 0, more = 1; more; ++number) {
        more = number < warmup + least || now_us() < end;   // as rank 0 says
        double const start = now_us();
        buffer[0] = more;
        if (rank == 0) MPI_Send(buffer.data(), count, MPI_DOUBLE, other, tag, comm);
        MPI_Recv(buffer.data(), count, MPI_DOUBLE, other, tag, comm, MPI_STATUS_IGNORE);
        more = buffer[0] != 0;
        if (rank != 0) MPI_Send(buffer.data(), count, MPI_DOUBLE, other, tag, comm);
        if (number >= warmup) times.push_back(call_time(now_us() - start, clock_cost(), 0.5));
    }
    return median_of(times);
}

MessageTime message_time(int peer, MPI_Comm comm) {
    constexpr std::size_t small = sizeof(double), large = 1 << 20;
    double const latency = half_round_trip(peer, small, comm), longer = half_round_trip(peer, large, comm);
    return {latency, std::max(0.0, longer - latency) / double(large - small)};
}

}   // namespace

void measure_messages(SharedPage& page, MPI_Comm comm, Results& results) {
    int rank, ranks, first;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    if (ranks == 1) return;
    MPI_Comm node;
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Allreduce(&rank, &first, 1, MPI_INT, MPI_MIN, node);
    MPI_Comm_free(&node);
    std::vector<int> first_of(std::size_t(ranks), 0);   // the lowest rank of each rank's node
    MPI_Allgather(&first, 1, MPI_INT, first_of.data(), 1, MPI_INT, comm);
    results.nodes = 0;
    int inside = 0, between = 0;   // 0: none
    for (int r = ranks - 1; r >= 0; --r) {
        results.nodes += first_of[std::size_t(r)] == r;
        if (r > 0) (first_of[std::size_t(r)] == 0 ? inside : between) = r;
    }
    if (!between) between = ranks - 1;
    results.between = message_time(between, comm);
    page.barrier();
    results.inside = inside ? message_time(inside, comm) : results.between;
    page.barrier();
}

}   // namespace bench
