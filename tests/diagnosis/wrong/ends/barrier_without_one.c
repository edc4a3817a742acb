// SPDX-License-Identifier: BSD-3-Clause
// One rank reads an empty input and finishes; the others call a barrier.
// ranks: 2 3
// expect: T03 or T05 one of 0-1
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int lines = rank == size - 1 ? 0 : 10;
    if (lines == 0) {
        MPI_Finalize();   // HERE last
        return 0;
    }
    MPI_Barrier(MPI_COMM_WORLD);   // HERE 0-1
    MPI_Finalize();                // HERE last
    return 0;
}
