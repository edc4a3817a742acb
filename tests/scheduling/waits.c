// SPDX-License-Identifier: BSD-3-Clause
// Measures the cost and the wake-up time of long waits: waits SECONDS REPETITIONS [WAIT,...]
//
// Rank 0 sleeps for SECONDS without MPI while the others wait for it in one way. Rank 0 prints for each kind of wait
// "wait NAME MEAN MOST WAKE-UP": processor time of a waiting rank in percent of a core, on average and at most, and the
// median of the microseconds from the end of the sleep to the return of the slowest waiting rank. For any MPI.
#define _GNU_SOURCE
#include <limits.h>
#include <linux/futex.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static MPI_Comm const world = MPI_COMM_WORLD;
static int rank, ranks;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

/// Returns the processor time of this process in microseconds.
static double used(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static void in_barrier(double const* slept) {
    (void)slept;
    MPI_Barrier(world);
}

static void in_recv(double const* slept) {
    long message = (long)*slept;
    if (rank != 0) MPI_Recv(&message, 1, MPI_LONG, 0, 0, world, MPI_STATUS_IGNORE);
    else
        for (int peer = 1; peer < ranks; ++peer) MPI_Send(&message, 1, MPI_LONG, peer, 0, world);
}

static void in_allreduce(double const* slept) {
    double sum;
    MPI_Allreduce(slept, &sum, 1, MPI_DOUBLE, MPI_SUM, world);
}

static void in_test(double const* slept) {
    long message = (long)*slept;
    MPI_Request request;
    if (rank == 0) {
        in_recv(slept);
        return;
    }
    MPI_Irecv(&message, 1, MPI_LONG, 0, 0, world, &request);
    for (int done = 0; !done; MPI_Test(&request, &done, MPI_STATUS_IGNORE)) usleep(100);
}

/// The same loop without MPI: the cost of the sleep calls on this machine. Ends after a fixed time.
static double seconds;
static void in_usleep(double const* slept) {
    (void)slept;
    for (double const end = now() + seconds * 1e6; rank != 0 && now() < end;) usleep(100);
}

/// Without MPI: the time in which the kernel wakes processes that sleep on a word of shared memory.
static unsigned* word;
static void in_futex(double const* slept) {
    static unsigned round;
    (void)slept;
    ++round;
    if (rank == 0) {
        __atomic_store_n(word, round, __ATOMIC_RELEASE);
        syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
        return;
    }
    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) != round)
        syscall(SYS_futex, word, FUTEX_WAIT, round - 1, NULL, NULL, 0);
}

static MPI_Win share_word(void) {
    MPI_Win window;
    MPI_Aint bytes;
    int unit;
    MPI_Win_allocate_shared(rank == 0 ? sizeof *word : 0, sizeof *word, MPI_INFO_NULL, world, &word, &window);
    MPI_Win_shared_query(window, 0, &bytes, &unit, &word);
    if (rank == 0) *word = 0;
    MPI_Barrier(world);
    return window;
}

static struct Wait {
    char const* name;
    void (*wait)(double const* slept);
} const waits[] = {
    {"barrier", in_barrier}, {"recv", in_recv},     {"allreduce", in_allreduce},
    {"test", in_test},       {"usleep", in_usleep}, {"futex", in_futex}};

static int compare(void const* a, void const* b) {
    double const x = *(double const*)a, y = *(double const*)b;
    return (x > y) - (x < y);
}

static void measure(struct Wait const* wait, int repetitions) {
    struct timespec const sleep = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    double* const wake_ups = malloc((size_t)repetitions * sizeof *wake_ups);
    double share = 0;
    for (int k = 0; k < repetitions; ++k) {
        MPI_Barrier(world);
        double const began = now(), used_before = used();
        if (rank == 0) nanosleep(&sleep, NULL);
        double const slept = now();
        wait->wait(&slept);
        double const returned = now();
        share += (used() - used_before) / (returned - began);
        double woken = slept;   // by the monotonic clock, which is the same for all ranks of a node
        MPI_Bcast(&woken, 1, MPI_DOUBLE, 0, world);
        double const mine = rank == 0 ? 0 : returned - woken;
        MPI_Reduce(&mine, &wake_ups[k], 1, MPI_DOUBLE, MPI_MAX, 0, world);
    }
    double const per_cent = rank == 0 ? 0 : 100 * share / repetitions;
    double sum = 0, most = 0;
    MPI_Reduce(&per_cent, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, world);
    MPI_Reduce(&per_cent, &most, 1, MPI_DOUBLE, MPI_MAX, 0, world);
    if (rank == 0) {
        qsort(wake_ups, (size_t)repetitions, sizeof *wake_ups, compare);
        printf("wait %s %.3f %.3f %.1f\n", wait->name, sum / (ranks - 1), most, wake_ups[repetitions / 2]);
        fflush(stdout);
    }
    free(wake_ups);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &ranks);
    if (argc < 3 || ranks < 2) {
        fprintf(stderr, "usage: waits SECONDS REPETITIONS [WAIT,...], with two ranks or more\n");
        MPI_Abort(world, 2);
    }
    seconds = atof(argv[1]);
    char const* const names = argc > 3 ? argv[3] : "barrier,recv,allreduce,test,usleep,futex";
    for (size_t k = 0; k < sizeof waits / sizeof waits[0]; ++k)
        if (strstr(names, waits[k].name)) {
            MPI_Win window = waits[k].wait == in_futex ? share_word() : MPI_WIN_NULL;
            measure(&waits[k], atoi(argv[2]));
            if (window != MPI_WIN_NULL) MPI_Win_free(&window);
        }
    MPI_Finalize();
    return 0;
}
