// SPDX-License-Identifier: BSD-3-Clause
// One wrapper per MPI function that this program calls, and the table that they fill.
#include "profile.hpp"

#include <cstdio>
#include <iterator>

namespace {

struct Call {
    char const* name;
    double calls = 0, bytes = 0, seconds = 0;
};

enum { allreduce, allgather, allgatherv, alltoall, exscan, bcast, reduce, barrier, isend, irecv, waitany, waitall };

Call table[] = {{"Allreduce"}, {"Allgather"}, {"Allgatherv"}, {"Alltoall"}, {"Exscan"},  {"Bcast"},
                {"Reduce"},    {"Barrier"},   {"Isend"},      {"Irecv"},    {"Waitany"}, {"Waitall"}};
bool paused = false;

double size_of(int count, MPI_Datatype type) {
    int size = 0;
    PMPI_Type_size(type, &size);
    return double(count) * size;
}

/// Adds the time between its construction and its destruction to a call's row.
class CallTimer {
public:
    CallTimer(int call, double bytes) : call_(table[call]), bytes_(bytes), start_(PMPI_Wtime()) {}
    ~CallTimer() {
        if (paused) return;
        call_.calls += 1;
        call_.bytes += bytes_;
        call_.seconds += PMPI_Wtime() - start_;
    }

private:
    Call& call_;
    double bytes_, start_;
};

}   // namespace

namespace stencil {

void profile_pause(bool pause) { paused = pause; }

void profile_report(MPI_Comm comm, double run_seconds) {
    constexpr int rows = int(std::size(table));
    double mine[rows][3], sums[rows][3], longest[rows][3];
    for (int row = 0; row < rows; ++row) {
        mine[row][0] = table[row].calls;
        mine[row][1] = table[row].bytes;
        mine[row][2] = table[row].seconds;
    }
    int rank, size;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    PMPI_Reduce(mine, sums, rows * 3, MPI_DOUBLE, MPI_SUM, 0, comm);
    PMPI_Reduce(mine, longest, rows * 3, MPI_DOUBLE, MPI_MAX, 0, comm);
    if (rank != 0) return;
    std::printf("\n  %-12s %12s %12s %12s %12s %8s\n", "MPI call", "calls/rank", "KiB/rank", "mean ms", "longest ms",
                "of run");
    double total = 0;
    for (int row = 0; row < rows; ++row) {
        if (sums[row][0] == 0) continue;
        double mean = sums[row][2] / size;
        total += mean;
        std::printf("  %-12s %12.0f %12.1f %12.3f %12.3f %7.1f%%\n", table[row].name, sums[row][0] / size,
                    sums[row][1] / size / 1024, mean * 1e3, longest[row][2] * 1e3, 100 * mean / run_seconds);
    }
    std::printf("  %-12s %12s %12s %12.3f %12s %7.1f%%\n", "together", "", "", total * 1e3, "",
                100 * total / run_seconds);
}

}   // namespace stencil

extern "C" {

int MPI_Allreduce(void const* send, void* recv, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    CallTimer timer(allreduce, size_of(count, type));
    return PMPI_Allreduce(send, recv, count, type, op, comm);
}

int MPI_Allgather(void const* send, int count, MPI_Datatype type, void* recv, int recv_count, MPI_Datatype recv_type,
                  MPI_Comm comm) {
    CallTimer timer(allgather, size_of(count, type));
    return PMPI_Allgather(send, count, type, recv, recv_count, recv_type, comm);
}

int MPI_Allgatherv(void const* send, int count, MPI_Datatype type, void* recv, int const* counts,
                   int const* displacements, MPI_Datatype recv_type, MPI_Comm comm) {
    CallTimer timer(allgatherv, size_of(count, type));
    return PMPI_Allgatherv(send, count, type, recv, counts, displacements, recv_type, comm);
}

int MPI_Alltoall(void const* send, int count, MPI_Datatype type, void* recv, int recv_count, MPI_Datatype recv_type,
                 MPI_Comm comm) {
    CallTimer timer(alltoall, size_of(count, type));
    return PMPI_Alltoall(send, count, type, recv, recv_count, recv_type, comm);
}

int MPI_Exscan(void const* send, void* recv, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    CallTimer timer(exscan, size_of(count, type));
    return PMPI_Exscan(send, recv, count, type, op, comm);
}

int MPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    CallTimer timer(bcast, size_of(count, type));
    return PMPI_Bcast(buffer, count, type, root, comm);
}

int MPI_Reduce(void const* send, void* recv, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
    CallTimer timer(reduce, size_of(count, type));
    return PMPI_Reduce(send, recv, count, type, op, root, comm);
}

int MPI_Barrier(MPI_Comm comm) {
    CallTimer timer(barrier, 0);
    return PMPI_Barrier(comm);
}

int MPI_Isend(void const* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
    CallTimer timer(isend, size_of(count, type));
    return PMPI_Isend(buffer, count, type, to, tag, comm, request);
}

int MPI_Irecv(void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request) {
    CallTimer timer(irecv, size_of(count, type));
    return PMPI_Irecv(buffer, count, type, from, tag, comm, request);
}

int MPI_Waitany(int count, MPI_Request* requests, int* index, MPI_Status* status) {
    CallTimer timer(waitany, 0);
    return PMPI_Waitany(count, requests, index, status);
}

int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
    CallTimer timer(waitall, 0);
    return PMPI_Waitall(count, requests, statuses);
}

}   // extern "C"
