// SPDX-License-Identifier: BSD-3-Clause
// Both ranks poll by MPI_Testall and sleep between the calls; rank 0 sends only after half a second.
// ranks: 2
#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x[2], flag = 0, steps = 0, value = rank;
    MPI_Request requests[2];
    for (int i = 0; i < 2; i++) MPI_Irecv(&x[i], 1, MPI_INT, 1 - rank, i, MPI_COMM_WORLD, &requests[i]);
    while (!flag || steps <= 10) {
        usleep(50000);
        if (steps == 10)
            for (int i = 0; i < 2; i++) MPI_Send(&value, 1, MPI_INT, 1 - rank, i, MPI_COMM_WORLD);
        steps++;
        MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
