// SPDX-License-Identifier: BSD-3-Clause
// ranks: 1 2 4
// A rank starts this program again by system(): the child is a separate world, and the job continues. With an argument,
// the program is the child, whose exit code is the size of its world.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1) return MPI_Finalize(), 10 * rank + size;
    char command[4096];
    snprintf(command, sizeof command, "'%s' child 2> /dev/null", argv[0]);
    int const status = rank == size - 1 ? system(command) : 1 << 8;
    int sum = 0;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    int const failed = !WIFEXITED(status) || WEXITSTATUS(status) != 1 || sum != size * (size - 1) / 2;
    if (failed) fprintf(stderr, "rank %d: status %d, sum %d\n", rank, status, sum);
    MPI_Finalize();
    return failed;
}
