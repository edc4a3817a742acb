// SPDX-License-Identifier: BSD-3-Clause
// A master sends work to each worker that has finished, and collects the last results in a second loop with the same
// tag.
// ranks: 3 5
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int task = 0, result, sum = 0, end = -1;
    MPI_Status status;
    if (rank == 0) {
        for (int i = 1; i < size; i++, task++) MPI_Send(&task, 1, MPI_INT, i, 0, MPI_COMM_WORLD);
        for (; task < 30; task++) {
            MPI_Recv(&result, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
            sum += result;
            MPI_Send(&task, 1, MPI_INT, status.MPI_SOURCE, 0, MPI_COMM_WORLD);
        }
        for (int i = 1; i < size; i++) {
            MPI_Recv(&result, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
            sum += result;
            MPI_Send(&end, 1, MPI_INT, status.MPI_SOURCE, 0, MPI_COMM_WORLD);
        }
        if (sum != 29 * 30 / 2) MPI_Abort(MPI_COMM_WORLD, 1);
    }
    while (rank > 0) {
        MPI_Recv(&task, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (task < 0) break;
        MPI_Send(&task, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
