// SPDX-License-Identifier: BSD-3-Clause
// A send buffer is freed before the send is complete.
// ranks: 2
// expect: T10 ranks 0
// mpiexec: --check
#include <mpi.h>
#include <string.h>
#include <sys/mman.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    size_t bytes = 1 << 20;
    char* field = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(field, 7, bytes);
    MPI_Request request;
    if (rank == 0) {
        MPI_Isend(field, 1 << 20, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &request);   // HERE 0
        MPI_Barrier(MPI_COMM_WORLD);
        munmap(field, bytes);
        MPI_Wait(&request, MPI_STATUS_IGNORE);   // HERE 0
    } else {
        MPI_Recv(field, 1 << 20, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
