// SPDX-License-Identifier: BSD-3-Clause
// All receives name their source, and are completed in order of arrival.
// ranks: 3 4
#include <unistd.h>

#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int x = rank, result[3], which;
    MPI_Request requests[3];
    if (rank == 0) {
        usleep(200000);
        for (int i = 1; i < size; i++)
            MPI_Irecv(&result[i - 1], 1, MPI_INT, i, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[i - 1]);
        for (int i = 1; i < size; i++) {
            MPI_Waitany(size - 1, requests, &which, MPI_STATUS_IGNORE);
            if (result[which] != which + 1) MPI_Abort(MPI_COMM_WORLD, 1);
        }
    } else {
        MPI_Send(&x, 1, MPI_INT, 0, rank, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
