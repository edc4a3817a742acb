// SPDX-License-Identifier: BSD-3-Clause
// MPI_Mprobe and MPI_Improbe match messages of any source, and the program does not read the source.
// ranks: 3 5
// expect: warning T12 ranks 0
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int x = rank, result[5];
    for (int i = 0; rank == 0 && i < size - 1; i++) {
        MPI_Message message;
        int found = i % 2;
        if (found) MPI_Mprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);   // HERE 0
        while (!found)
            MPI_Improbe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &found, &message, MPI_STATUS_IGNORE);   // HERE 0
        MPI_Mrecv(&result[i], 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    }
    if (rank > 0) MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
