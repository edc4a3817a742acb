// SPDX-License-Identifier: BSD-3-Clause
// Each rank in turn is the root of a broadcast, and late.
// ranks: 3 8
#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int root = 0; root < size; root++) {
        double data[100] = {0};
        if (rank == root) usleep(50000);
        MPI_Bcast(data, 100, MPI_DOUBLE, root, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
