// SPDX-License-Identifier: BSD-3-Clause
// ranks: 1 4
// args: 0.3
// Communicates for this number of seconds: small and large messages around a ring and reductions, all checked. Launcher
// tests run it under faults (a killed rank, forbidden CMA, no /dev/shm).
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { large = 100000 };

static int failures = 0;

static void expect(long got, long wanted, const char* what) {
    if (got != wanted && failures++ < 5) printf("%s: %ld instead of %ld\n", what, got, wanted);
}

static void ring(int rank, int size, int round, int count, int* out, int* in) {
    for (int i = 0; i < count; ++i) out[i] = rank + round + i;
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    int tag = round % 7;
    MPI_Sendrecv(out, count, MPI_INT, right, tag, in, count, MPI_INT, left, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < count; ++i) expect(in[i], left + round + i, "ring");
}

static void sum(int rank, int size, int round) {
    long mine = rank + round, all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    expect(all, (long)size * (size - 1) / 2 + (long)size * round, "sum");
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size, go_on = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int* out = malloc(large * sizeof *out);
    int* in = malloc(large * sizeof *in);
    double end = MPI_Wtime() + (argc > 1 ? atof(argv[1]) : 1);
    for (int round = 0; go_on; ++round) {
        ring(rank, size, round, 3, out, in);
        ring(rank, size, round, large, out, in);
        sum(rank, size, round);
        go_on = MPI_Wtime() < end;
        MPI_Bcast(&go_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    free(out);
    free(in);
    MPI_Finalize();
    return failures != 0;
}
