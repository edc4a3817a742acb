// SPDX-License-Identifier: BSD-3-Clause
// steady FILE: communicates until the file exists: small and large messages in a ring, and collectives, all checked.
// Prints "running" after the first round, and at the end "N rounds, all right".
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { large = 100000 };

static int rank, size, failures;

static void expect(long got, long wanted, const char *what) {
    if (got != wanted && failures++ < 5) fprintf(stderr, "%s: %ld instead of %ld\n", what, got, wanted);
}

static void ring(int round, int count, int *out, int *in) {
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int i = 0; i < count; ++i) out[i] = rank + round + i;
    MPI_Sendrecv(out, count, MPI_INT, right, round % 7, in, count, MPI_INT, left, round % 7, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int i = 0; i < count; ++i) expect(in[i], left + round + i, "ring");
}

static void together(int round, int *out, int *in) {
    long mine = rank + round, all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    expect(all, (long)size * (size - 1) / 2 + (long)size * round, "allreduce");
    for (int r = 0; r < size; ++r) out[r] = rank * 1000 + r + round;
    MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < size; ++r) expect(in[r], r * 1000 + rank + round, "alltoall");
}

int main(int argc, char **argv) {
    int go_on = 1, round = 0, total = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int *out = malloc(large * sizeof *out), *in = malloc(large * sizeof *in);
    for (; go_on; ++round) {
        ring(round, 3, out, in);
        ring(round, large, out, in);
        together(round, out, in);
        if (rank == 0 && round == 0) puts("running"), fflush(stdout);
        go_on = access(argv[1], F_OK) != 0;
        MPI_Bcast(&go_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    MPI_Reduce(&failures, &total, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0 && total == 0) printf("%d rounds, all right\n", round);
    free(out);
    free(in);
    MPI_Finalize();
    return failures != 0;
}
