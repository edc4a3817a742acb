// SPDX-License-Identifier: BSD-3-Clause
// Rank 0 waits for its input while the others wait for rank 0.
// ranks: 2 3
// input: 5
#include <stdio.h>
#include <unistd.h>

#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int n = 0;
    if (rank == 0) {
        sleep(1);
        if (scanf("%d", &n) != 1) MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
