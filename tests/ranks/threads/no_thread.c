// SPDX-License-Identifier: BSD-3-Clause
// If the system starts no thread, ranks continue without a progress thread: operations complete in MPI calls, including
// accesses to windows on other nodes, and the signal mask is unchanged.
// ranks: 1 2 4
// env: TUTTI_PROGRESS_THREAD=yes
// run served: 2 4
// alone: it has its own pthread_create
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "tests/ranks/check.h"

static int refusals;

__attribute__((visibility("default"))) int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                                                          void *(*run)(void *), void *argument) {
    (void)thread, (void)attributes, (void)run, (void)argument;
    ++refusals;
    return EAGAIN;
}

int main(int argc, char **argv) {
    enum { many = 200000 };
    static int out[many], in[many];
    int rank, size, value = -1;
    sigset_t before, after;
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (getenv("TUTTI_PROGRESS_THREAD")) CHECK(refusals > 0, "%d threads were asked for", refusals);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    for (int s = 1; s < 32; ++s)
        CHECK(sigismember(&before, s) == sigismember(&after, s), "signal %d is blocked: %d", s, sigismember(&after, s));

    MPI_Request requests[3];
    int sum = 0, right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int i = 0; i < many; ++i) out[i] = rank + i;
    MPI_Irecv(in, many, MPI_INT, left, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, many, MPI_INT, right, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[2]);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    CHECK(sum == size * (size - 1) / 2, "the sum is %d", sum);
    for (int i = 0; i < many; ++i) CHECK(in[i] == left + i, "element %d is %d", i, in[i]);

    MPI_Win win;
    int *memory;
    MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    *memory = -1;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, win);
    MPI_Put(&rank, 1, MPI_INT, right, 0, 1, MPI_INT, win);
    MPI_Win_unlock(right, win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    value = *memory;
    MPI_Win_unlock(rank, win);
    CHECK(value == left, "the window has %d", value);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
