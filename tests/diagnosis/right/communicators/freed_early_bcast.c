// SPDX-License-Identifier: BSD-3-Clause
// The root has broadcast, freed the communicator and reached a barrier of all; the receivers come late, one by one.
// ranks: 3 4
#include <unistd.h>
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = 1;
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    usleep(200000 * rank);
    MPI_Bcast(&x, 1, MPI_INT, 0, copy);
    MPI_Comm_free(&copy);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
