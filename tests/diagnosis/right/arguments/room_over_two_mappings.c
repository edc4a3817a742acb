// SPDX-License-Identifier: BSD-3-Clause
// The receive buffer spans two adjacent memory mappings.
// ranks: 2
#include <stddef.h>
#include <sys/mman.h>

#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    size_t half = (size_t)1 << 20;
    char* x = mmap(NULL, 2 * half, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mmap(x + half, half, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (rank == 0) MPI_Send(x, 100, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    else MPI_Recv(x, (int)(2 * half), MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    munmap(x, 2 * half);
    MPI_Finalize();
    return 0;
}
