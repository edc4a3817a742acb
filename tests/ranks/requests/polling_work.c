// SPDX-License-Identifier: BSD-3-Clause
// Programs that complete all communication by polling: a work queue, a master that tests for its workers, a ring,
// termination detection by a nonblocking barrier, matched probes, and persistent exchanges. No call waits, and each
// result is checked.
// ranks: 1 2 4
#include "tests/ranks/check.h"

enum { tasks = 200, rounds = 60, max_ranks = 16 };

static int me, size;
static volatile double sink;

static void compute(int n) {
    double x = 1;
    for (int i = 0; i < n * 200; ++i) x = x * 1.0000001 + 0.5;
    sink = x;
}

static void until(MPI_Request *r) {
    int flag = 0;
    while (!flag) MPI_Test(r, &flag, MPI_STATUS_IGNORE);
}

/* A worker requests its next task and polls for it; −1 ends the loop. Returns the sum of its tasks. */
static int work(void) {
    for (int sum = 0, task = 0;;) {
        int flag = 0;
        MPI_Send(&task, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        while (!flag) MPI_Iprobe(0, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        MPI_Recv(&task, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (task < 0) return sum;
        compute(task % 5);
        sum += task;
    }
}

static void give_next(int worker, int *given, int *ended) {
    int const task = *given < tasks ? (*given)++ : -1;
    if (task < 0) ++*ended;
    MPI_Send(&task, 1, MPI_INT, worker, 1, MPI_COMM_WORLD);
}

static void lead_by_iprobe(void) {
    for (int given = 0, ended = 0, word; ended < size - 1;) {
        int flag;
        MPI_Status s;
        MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, &s);
        if (!flag) continue;
        MPI_Recv(&word, 1, MPI_INT, s.MPI_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        give_next(s.MPI_SOURCE, &given, &ended);
    }
}

static void lead_by_tests(int some) {
    MPI_Request requests[max_ranks];
    int words[max_ranks], found[max_ranks];
    for (int i = 1; i < size; ++i) MPI_Irecv(&words[i], 1, MPI_INT, i, 0, MPI_COMM_WORLD, &requests[i - 1]);
    for (int given = 0, ended = 0; ended < size - 1;) {
        int n, flag;
        if (some) MPI_Testsome(size - 1, requests, &n, found, MPI_STATUSES_IGNORE);
        else MPI_Testany(size - 1, requests, found, &flag, MPI_STATUS_IGNORE), n = flag;
        for (int i = 0; i < n; ++i) {
            int const worker = found[i] + 1, before = ended;
            give_next(worker, &given, &ended);
            if (ended == before)
                MPI_Irecv(&words[worker], 1, MPI_INT, worker, 0, MPI_COMM_WORLD, &requests[worker - 1]);
        }
    }
}

static void queue(int kind) {
    int sum = 0, all = 0;
    MPI_Request r;
    if (size == 1) return;
    if (me != 0) sum = work();
    else if (kind == 0) lead_by_iprobe();
    else lead_by_tests(kind == 2);
    MPI_Iallreduce(&sum, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r);
    until(&r);
    CHECK(all == tasks * (tasks - 1) / 2, "kind %d: the tasks' sum is %d", kind, all);
}

static void ring(void) {
    int const left = (me + size - 1) % size, right = (me + 1) % size;
    for (int round = 0; round < rounds; ++round) {
        int in = -1, out = me * 1000 + round;
        MPI_Request r[2];
        MPI_Irecv(&in, 1, MPI_INT, left, 2, MPI_COMM_WORLD, &r[0]);
        if ((round + me) % size == 0) compute(20);
        MPI_Isend(&out, 1, MPI_INT, right, 2, MPI_COMM_WORLD, &r[1]);
        until(&r[0]);
        until(&r[1]);
        CHECK(in == left * 1000 + round, "round %d: %d", round, in);
    }
}

/* Each rank sends to arbitrary ranks, and enters a nonblocking barrier when its sends are complete; when the barrier is
 * complete, all messages have been received. */
static void sparse(void) {
    int got = 0, sent = 0, all[2];
    for (int round = 0; round < rounds; ++round) {
        int const count = (me + round) % 3, tag = 3 + round % 2;
        int done = 0, in_barrier = 0, flag, word = round;
        MPI_Request r[2], barrier;
        for (int i = 0; i < count; ++i)
            MPI_Issend(&word, 1, MPI_INT, (me + i + round) % size, tag, MPI_COMM_WORLD, &r[i]);
        sent += count;
        while (!done) {
            MPI_Status s;
            MPI_Message m;
            MPI_Improbe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &flag, &m, &s);
            if (flag) {
                int in = -1;
                MPI_Request matched;
                MPI_Imrecv(&in, 1, MPI_INT, &m, &matched);
                until(&matched);
                CHECK(in == round, "round %d: %d", round, in);
                ++got;
            }
            if (in_barrier) {
                MPI_Test(&barrier, &done, MPI_STATUS_IGNORE);
                continue;
            }
            MPI_Testall(count, r, &in_barrier, MPI_STATUSES_IGNORE);
            if (in_barrier) MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
        }
    }
    MPI_Allreduce((int[]){got, sent}, all, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all[0] == all[1], "%d of %d messages were received", all[0], all[1]);
}

static void persistent(void) {
    int in[max_ranks], out, n = 0, flag;
    MPI_Request r[2 * max_ranks];
    for (int peer = 0; peer < size; ++peer) {
        MPI_Recv_init(&in[peer], 1, MPI_INT, peer, 5, MPI_COMM_WORLD, &r[n++]);
        MPI_Send_init(&out, 1, MPI_INT, peer, 5, MPI_COMM_WORLD, &r[n++]);
    }
    for (int round = 0; round < rounds; ++round) {
        out = me * 1000 + round;
        MPI_Startall(n, r);
        if (round % size == me) compute(20);
        for (flag = 0; !flag;) MPI_Testall(n, r, &flag, MPI_STATUSES_IGNORE);
        for (int peer = 0; peer < size; ++peer)
            CHECK(in[peer] == peer * 1000 + round, "round %d: %d from %d", round, in[peer], peer);
    }
    for (int i = 0; i < n; ++i) MPI_Request_free(&r[i]);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int kind = 0; kind < 3; ++kind) queue(kind);
    ring();
    sparse();
    persistent();
    MPI_Finalize();
    return 0;
}
