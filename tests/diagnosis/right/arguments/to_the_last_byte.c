// SPDX-License-Identifier: BSD-3-Clause
// The receive buffer ends exactly where the memory ends.
// ranks: 2
#include <stddef.h>
#include <sys/mman.h>

#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    enum { n = 1 << 20 };
    char* x = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (rank == 0) MPI_Send(x, 100, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    else MPI_Recv(x, n, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    munmap(x, n);
    MPI_Finalize();
    return 0;
}
