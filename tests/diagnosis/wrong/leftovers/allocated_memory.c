// SPDX-License-Identifier: BSD-3-Clause
// Memory of MPI_Alloc_mem is not freed.
// ranks: 2
// expect: warning T08 ranks all
// env: TUTTI_DIAGNOSIS=full
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double* memory;
    MPI_Alloc_mem(1000, MPI_INFO_NULL, &memory);   // HERE all
    memory[0] = rank;
    MPI_Finalize();
    return 0;
}
