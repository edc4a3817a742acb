// SPDX-License-Identifier: BSD-3-Clause
// Two messages are sent, and the loop waits for three.
// ranks: 3
// expect: T01 ranks 0
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x[3], done = 0, some, indices[3];
    MPI_Request requests[3];
    if (rank == 0) {
        for (int i = 0; i < 3; i++) MPI_Irecv(&x[i], 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &requests[i]);
        while (done < 3) {
            MPI_Waitsome(3, requests, &some, indices, MPI_STATUSES_IGNORE);   // HERE 0
            done += some;
        }
    } else {
        MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);   // HERE 1-2
    MPI_Finalize();
    return 0;
}
