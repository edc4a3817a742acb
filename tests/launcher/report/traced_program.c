// SPDX-License-Identifier: BSD-3-Clause
// A ring of messages, a slow rank, and collectives. Then, with "hang", all ranks receive; with "kill", rank 1 dies.
#include <mpi.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static void ring(int rank, int size) {
    int token = rank;
    MPI_Status status;
    if (rank == 0) usleep(20000);   // so that the others wait for it
    MPI_Request request;
    MPI_Isend(&rank, 1, MPI_INT, (rank + 1) % size, 7, MPI_COMM_WORLD, &request);
    MPI_Recv(&token, 1, MPI_INT, (rank + size - 1) % size, 7, MPI_COMM_WORLD, &status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void large(int rank) {
    static double data[1 << 16];
    if (rank == 1) MPI_Send(data, 1 << 16, MPI_DOUBLE, 0, 9, MPI_COMM_WORLD);
    if (rank == 0) {
        usleep(5000);   // a late receiver
        MPI_Recv(data, 1 << 16, MPI_DOUBLE, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void collectives(int rank) {
    double x = rank, sum;
    for (int i = 0; i < 3; ++i) MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 1) usleep(20000);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Bcast(&sum, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
    char const* const end = argc > 1 ? argv[1] : "";
    int rank, size, x;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 8; ++i) ring(rank, size);
    large(rank);
    for (int i = 0; i < 3; ++i) collectives(rank);
    if (strcmp(end, "hang") == 0) MPI_Recv(&x, 1, MPI_INT, (rank + 1) % size, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (strcmp(end, "kill") == 0 && rank == 1) raise(SIGKILL);
    if (strcmp(end, "kill") == 0) MPI_Recv(&x, 1, MPI_INT, 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return MPI_Finalize();
}
