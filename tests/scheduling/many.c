// SPDX-License-Identifier: BSD-3-Clause
// Many ranks, many communicators, or many starts; for any MPI:
//   many dups NUMBER keep|free|twice   duplicates of MPI_COMM_WORLD, each used once and kept or freed, or used twice
//   many allreduce NUMBER              allreduces of 8 bytes
//   many kill NUMBER                   allreduces, after which the last rank kills itself
//   many spawn NUMBER                  without MPI: starts of /bin/true, one after the other
// Prints "took SECONDS" and a further number: for dups the bytes of memory per duplicate and rank, for allreduce the
// seconds from the start of main to the first allreduce, for kill the time of the kill by CLOCK_MONOTONIC.
#define _GNU_SOURCE
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static MPI_Comm const world = MPI_COMM_WORLD;
static int rank, ranks;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void sum_over(MPI_Comm communicator) {
    long const mine = rank + 1;
    long sum = 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, communicator);
    if (sum != (long)ranks * (ranks + 1) / 2) {
        fprintf(stderr, "many: rank %d received a wrong sum\n", rank);
        MPI_Abort(world, 1);
    }
}

/// Returns the memory of all ranks in bytes; shared pages are counted once.
static double memory_of_all(void) {
    FILE* const file = fopen("/proc/self/smaps_rollup", "r");
    char line[256];
    double mine = 0, all = 0;
    MPI_Barrier(world);
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "Pss:", 4) == 0) mine = 1024 * atof(line + 4);
    if (file) fclose(file);
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, world);
    return all;
}

static void duplicate(int number, char const* use) {
    MPI_Comm* const copies = malloc((size_t)number * sizeof *copies);
    sum_over(world);
    double const before = memory_of_all(), began = now();
    for (int k = 0; k < number; ++k) {
        MPI_Comm_dup(world, &copies[k]);
        sum_over(copies[k]);
        if (strcmp(use, "free") == 0) MPI_Comm_free(&copies[k]);
    }
    for (int k = 0; k < number && strcmp(use, "twice") == 0; ++k) sum_over(copies[k]);
    double const took = now() - began, bytes = (memory_of_all() - before) / ranks / number;
    if (rank == 0) printf("took %.6f %.0f\n", took, bytes);
    free(copies);
}

static void repeat(int number, double started) {
    MPI_Barrier(world);
    double const began = now();
    for (int k = 0; k < number; ++k) sum_over(world);
    if (rank == 0) printf("took %.6f %.6f\n", now() - began, began - started);
}

static void kill_last(int number) {
    double const began = now();
    for (int k = 0; k < number; ++k) sum_over(world);
    if (rank == ranks - 1) {
        printf("took %.6f %.6f\n", now() - began, now());
        fflush(stdout);
        raise(SIGKILL);
    }
    MPI_Barrier(world);
}

static int spawn(int number) {
    double const began = now();
    for (int k = 0; k < number; ++k) {
        int status;
        pid_t const child = fork();
        if (child == 0) {
            execl("/bin/true", "true", (char*)NULL);
            _exit(127);
        }
        if (child == -1 || waitpid(child, &status, 0) != child) return 1;
    }
    printf("took %.6f\n", now() - began);
    return 0;
}

int main(int argc, char** argv) {
    double const started = now();
    int const number = argc > 2 ? atoi(argv[2]) : 0;
    if (argc > 2 && strcmp(argv[1], "spawn") == 0) return spawn(number);
    if (number < 1) {
        fprintf(stderr, "usage: many dups|allreduce|kill|spawn NUMBER [keep|free|twice]\n");
        return 2;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &ranks);
    if (strcmp(argv[1], "dups") == 0) duplicate(number, argc > 3 ? argv[3] : "keep");
    else if (strcmp(argv[1], "kill") == 0) kill_last(number);
    else repeat(number, started);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
