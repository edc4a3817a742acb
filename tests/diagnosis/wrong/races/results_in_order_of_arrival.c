// SPDX-License-Identifier: BSD-3-Clause
// Results of two ranks are received in order of arrival.
// ranks: 3
// expect: warning T12 ranks 0
// mpiexec: --check
#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int result[2], x = rank;
    if (rank == 0) {
        sleep(1);
        for (int i = 0; i < 2; i++)
            MPI_Recv(&result[i], 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // HERE 0
    } else {
        MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
