// SPDX-License-Identifier: BSD-3-Clause
// The existence of a file decides which collective is called, and rank 0 has just created the file.
// ranks: 2
// expect: T03 ranks 0-1
#include <stdio.h>
#include <unistd.h>

#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char name[64];
    int parent = getppid(), x = 1, sum;
    MPI_Bcast(&parent, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(name, sizeof name, "/tmp/tutti-seen-by-%d-%d", parent, rank);
    FILE* file = rank == 0 ? fopen(name, "w") : fopen(name, "r");
    if (file) {
        fclose(file);
        remove(name);
        MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);   // HERE 0
    } else {
        MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);   // HERE 1
    }
    MPI_Finalize();
    return 0;
}
