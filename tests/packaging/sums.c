/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks allreduces and messages of 8 bytes to 8 MiB; rank 0 prints how many ranks had only correct results, and the
 * first line of the library's version. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int are_sums_correct(int rank, int size, int count) {
    double *mine = malloc(count * sizeof(double)), *sums = malloc(count * sizeof(double));
    int correct = 1;
    for (int i = 0; i < count; ++i) mine[i] = rank + i;
    MPI_Allreduce(mine, sums, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < count; ++i) correct &= sums[i] == size * (double)i + size * (size - 1) / 2;
    MPI_Sendrecv(mine, count, MPI_DOUBLE, (rank + 1) % size, 0, sums, count, MPI_DOUBLE, (rank + size - 1) % size, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < count; ++i) correct &= sums[i] == (rank + size - 1) % size + i;
    free(mine);
    free(sums);
    return correct;
}

int main(int argc, char** argv) {
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int rank, size, length, correct = 1, ranks = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int count = 1; count <= 1 << 20; count *= 32) correct &= are_sums_correct(rank, size, count);
    MPI_Reduce(&correct, &ranks, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Get_library_version(version, &length);
    version[strcspn(version, "\n")] = '\0';
    if (rank == 0) printf("%d ranks agree, %s\n", ranks, version);
    MPI_Finalize();
    return 0;
}
