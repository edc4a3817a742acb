// SPDX-License-Identifier: BSD-3-Clause
// A send buffer is freed with free before the send is complete. The size of the block depends on the number of ranks,
// because allocators manage small and large blocks differently.
// ranks: 2 3 4 5
// expect: T10 ranks 0
// mpiexec: --check
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    int const sizes[] = {32, 8 << 10, 160 << 10, 8 << 20};
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int const bytes = sizes[(size - 2) % 4];
    char* field = malloc(bytes);
    memset(field, 7, bytes);
    MPI_Request request;
    if (rank == 0) {
        MPI_Isend(field, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &request);   // HERE 0
        free(field);
        MPI_Wait(&request, MPI_STATUS_IGNORE);   // HERE 0
    } else if (rank == 1) {
        MPI_Recv(field, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
