// SPDX-License-Identifier: BSD-3-Clause
// In a scan, lower ranks do not wait for higher ones: rank 0 continues, and the last rank is half a second late.
// unchecked: relies on a collective that does not synchronize, which MPI does not guarantee
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
