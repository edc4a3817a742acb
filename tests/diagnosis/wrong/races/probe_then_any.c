// SPDX-License-Identifier: BSD-3-Clause
// The probe returns the first sender, but the receive does not name it and may match the message of the other sender
// (MPI 3.1, 3.8.1, example 3.18).
// ranks: 3
// expect: warning T12 ranks 0
// mpiexec: --check
#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = rank, y = rank + 10;
    if (rank == 0) {
        for (int i = 0; i < 2; i++) {
            MPI_Status status;
            MPI_Probe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
            if (status.MPI_SOURCE == 1)
                MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // HERE 0
            else MPI_Recv(&y, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // HERE 0
        }
    } else {
        usleep(100000 * rank);
        MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);   // HERE 1-2
    }
    MPI_Finalize();
    return 0;
}
