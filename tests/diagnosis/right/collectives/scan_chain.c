// SPDX-License-Identifier: BSD-3-Clause
// In a scan low ranks need not wait for high ones: rank 0 goes on, and the last one is half a second late.
// unchecked: relies on a collective that need not wait, which MPI does not promise
// ranks: 3 4
#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int mine = 1, sum, x = 0;
    if (rank == size - 1) MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Scan(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        usleep(500000);
        MPI_Send(&x, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
