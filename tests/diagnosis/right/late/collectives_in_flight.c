// SPDX-License-Identifier: BSD-3-Clause
// Before each nonblocking or persistent collective another rank sleeps, and all others wait for their requests, on
// MPI_COMM_WORLD and on a communicator with another order of ranks.
// ranks: 4 8
#include <mpi.h>
#include <unistd.h>

enum { calls = 9, most = 8 };

static int in[most], out[most];

static MPI_Request begin(int call, MPI_Comm comm) {
    MPI_Request r;
    if (call == 0) MPI_Ibarrier(comm, &r);
    if (call == 1) MPI_Ibcast(in, 1, MPI_INT, 1, comm, &r);
    if (call == 2) MPI_Iallreduce(in, out, 1, MPI_INT, MPI_SUM, comm, &r);
    if (call == 3) MPI_Ireduce(in, out, 1, MPI_INT, MPI_SUM, 0, comm, &r);
    if (call == 4) MPI_Iallgather(in, 1, MPI_INT, out, 1, MPI_INT, comm, &r);
    if (call == 5) MPI_Ialltoall(in, 1, MPI_INT, out, 1, MPI_INT, comm, &r);
    if (call == 6) MPI_Ireduce_scatter_block(in, out, 1, MPI_INT, MPI_SUM, comm, &r);
    if (call == 7) MPI_Iscan(in, out, 1, MPI_INT, MPI_SUM, comm, &r);
    if (call == 8) MPI_Allreduce_init(in, out, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &r), MPI_Start(&r);
    return r;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size, which;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm reversed;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    for (int step = 0; step < 2 * calls; ++step) {
        if (rank == (size - 1 + step) % size) usleep(300000);
        MPI_Request r[2] = {begin(step % calls, step < calls ? MPI_COMM_WORLD : reversed), MPI_REQUEST_NULL};
        if (step % 2) MPI_Wait(&r[0], MPI_STATUS_IGNORE);
        else MPI_Waitany(2, r, &which, MPI_STATUS_IGNORE);
        if (r[0] != MPI_REQUEST_NULL) MPI_Request_free(&r[0]);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Comm_free(&reversed);
    MPI_Finalize();
    return 0;
}
