// SPDX-License-Identifier: BSD-3-Clause
// Threads that only poll, next to one that waits and one that never yields its core: all messages still arrive.
// ranks: 1 2 4
#include "tests/ranks/threads/threads.h"

#include <stdatomic.h>

enum { rounds = 60, threads = 4, spinner = 3 };

static atomic_int at_work = threads - 1;

static void exchange(int thread) {
    if (thread == spinner) {
        while (atomic_load(&at_work) != 0) {}
        return;
    }
    for (int round = 0; round < rounds; ++round) {
        int in = -1, out = me * 1000 + round, flag = 0;
        MPI_Request r[2];
        MPI_Irecv(&in, 1, MPI_INT, (me + size - 1) % size, thread, MPI_COMM_WORLD, &r[0]);
        MPI_Isend(&out, 1, MPI_INT, (me + 1) % size, thread, MPI_COMM_WORLD, &r[1]);
        if (thread == 0) MPI_Waitall(2, r, MPI_STATUSES_IGNORE), flag = 1;
        while (!flag) MPI_Testall(2, r, &flag, MPI_STATUSES_IGNORE);
        CHECK(in == (me + size - 1) % size * 1000 + round, "thread %d, round %d: %d", thread, round, in);
    }
    atomic_fetch_sub(&at_work, 1);
}

int main(int argc, char **argv) {
    start(&argc, &argv);
    run_in_threads(threads, exchange);
    MPI_Finalize();
    return 0;
}
