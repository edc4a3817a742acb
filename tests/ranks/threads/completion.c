// SPDX-License-Identifier: BSD-3-Clause
// Threads complete their requests concurrently by all completion calls: one thread's progress completes another
// thread's request. Meanwhile, one thread sleeps in a long wait, and other threads start, cancel and free requests.
// ranks: 2 4
#include <unistd.h>

#include "tests/ranks/threads/threads.h"

enum { threads = 8, many = 12, rounds = 20 };

static int tag_of(int thread, int i) { return thread * 100 + i; }

/* Completes `many` requests by the call that belongs to the thread. */
static void complete(int way, MPI_Request *requests) {
    int indices[many], count, index, flag = 0, done = 0;
    switch (way % 6) {
    case 0:
        for (int i = 0; i < many; ++i) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        break;
    case 1:
        while (!flag) MPI_Testall(many, requests, &flag, MPI_STATUSES_IGNORE);
        break;
    case 2:
        for (int i = 0; i < many; ++i) {
            MPI_Waitany(many, requests, &index, MPI_STATUS_IGNORE);
            CHECK(index >= 0 && index < many, "index %d", index);
        }
        break;
    case 3:
        while (done < many) {
            MPI_Waitsome(many, requests, &count, indices, MPI_STATUSES_IGNORE);
            CHECK(count > 0 && count <= many - done, "%d of %d", count, many - done);
            done += count;
        }
        break;
    case 4:
        for (int i = 0; i < many; ++i)
            for (flag = 0; !flag;) {
                MPI_Request_get_status(requests[i], &flag, MPI_STATUS_IGNORE);
                if (flag) MPI_Test(&requests[i], &index, MPI_STATUS_IGNORE);
            }
        break;
    case 5:
        while (done < many) {
            MPI_Testany(many, requests, &index, &flag, MPI_STATUS_IGNORE);
            if (flag) CHECK(index != MPI_UNDEFINED, "none left after %d", done);
            done += flag;
        }
        break;
    }
    for (int i = 0; i < many; ++i) CHECK(requests[i] == MPI_REQUEST_NULL, "request %d is left", i);
}

static void long_wait(void) {
    int last = -1;
    MPI_Recv(&last, 1, MPI_INT, (me + size - 1) % size, 99999, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(last == 4711, "the last message is %d", last);
}

static void mixes(int thread) {
    if (thread == threads - 1) return long_wait();
    int in[many][40], out[many][40], next = (me + 1) % size, before = (me + size - 1) % size;
    MPI_Request receives[many], sends[many];
    for (int round = 0; round < rounds; ++round) {
        for (int i = 0; i < many; ++i) {
            MPI_Irecv(in[i], 40, MPI_INT, before, tag_of(thread, i), MPI_COMM_WORLD, &receives[i]);
            fill(out[i], 40, round * 100 + i);
            MPI_Isend(out[i], 40, MPI_INT, next, tag_of(thread, i), MPI_COMM_WORLD, &sends[i]);
        }
        complete(thread, receives);
        complete(thread + round, sends);
        for (int i = 0; i < many; ++i) expect(in[i], 40, round * 100 + i, "completion");
        MPI_Request never;
        MPI_Status status;
        int cancelled, value = 0;
        MPI_Irecv(&value, 1, MPI_INT, before, 88888, MPI_COMM_WORLD, &never);
        MPI_Cancel(&never);
        MPI_Wait(&never, &status);
        MPI_Test_cancelled(&status, &cancelled);
        CHECK(cancelled, "a receive without a message was not cancelled");
    }
    if (thread == 0) {
        int last = 4711;
        usleep(120000);   /* so that the long wait sleeps */
        MPI_Send(&last, 1, MPI_INT, next, 99999, MPI_COMM_WORLD);
    }
}

static void persistent(int thread) {
    int in[40], out[40];
    MPI_Request both[2];
    MPI_Recv_init(in, 40, MPI_INT, (me + size - 1) % size, thread, MPI_COMM_WORLD, &both[0]);
    MPI_Send_init(out, 40, MPI_INT, (me + 1) % size, thread, MPI_COMM_WORLD, &both[1]);
    for (int round = 0; round < rounds; ++round) {
        fill(out, 40, thread * 100 + round);
        MPI_Startall(2, both);
        MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
        expect(in, 40, thread * 100 + round, "persistent");
    }
    MPI_Request_free(&both[0]);
    MPI_Request_free(&both[1]);
}

int main(int argc, char **argv) {
    start(&argc, &argv);
    run_in_threads(threads, mixes);
    run_in_threads(threads, persistent);
    MPI_Finalize();
    return 0;
}
