// SPDX-License-Identifier: BSD-3-Clause
// The master sends the end message to all workers except the last one.
// ranks: 3 5
// expect 3: T01 ranks 0 2
// expect 5: T01 ranks 0 4
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int work = 1, end = 0;
    if (rank == 0) {
        for (int worker = 1; worker < size; worker++) MPI_Send(&work, 1, MPI_INT, worker, 0, MPI_COMM_WORLD);
        for (int worker = 1; worker < size - 1; worker++) MPI_Send(&end, 1, MPI_INT, worker, 0, MPI_COMM_WORLD);
    } else {
        do MPI_Recv(&work, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // HERE last
        while (work != end);
    }
    MPI_Barrier(MPI_COMM_WORLD);   // HERE 0
    MPI_Finalize();
    return 0;
}
