// SPDX-License-Identifier: BSD-3-Clause
// Each worker gets a request; the answers are received from any source and stored in order of arrival.
// ranks: 3 4
// expect: warning T12 ranks 0
// mpiexec: --check
#include <unistd.h>

#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int x = rank, result[3];
    MPI_Request requests[3];
    if (rank == 0) {
        for (int i = 1; i < size; i++) MPI_Send(&x, 1, MPI_INT, i, 1, MPI_COMM_WORLD);
        sleep(1);
        for (int i = 1; i < size; i++)
            MPI_Irecv(&result[i - 1], 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &requests[i - 1]);   // HERE 0
        MPI_Waitall(size - 1, requests, MPI_STATUSES_IGNORE);
    } else {
        MPI_Recv(&x, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        x *= rank;
        MPI_Send(&x, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
