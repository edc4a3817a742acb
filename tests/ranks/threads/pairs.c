// SPDX-License-Identifier: BSD-3-Clause
// Eight threads of each rank exchange messages with the same thread of each rank, on one communicator, in all sizes and
// modes.
// ranks: 1 2 4
#include "tests/ranks/threads/threads.h"

enum { threads = 8, rounds = 12, largest = 40000 };

static int size_of(int from, int to, int thread, int round) {
    static const int sizes[] = {0, 1, 8, 100, 3000, largest};
    return sizes[(from + 2 * to + 3 * thread + round) % 6];
}
static int key_of(int from, int to, int thread, int round) { return ((from * 8 + to) * 16 + thread) * 64 + round; }
static int tag_of(int thread, int round) { return thread * 100 + round; }

static void exchange(int thread) {
    int *out = malloc(sizeof(int) * largest * (size_t)size), *in = malloc(sizeof(int) * largest * (size_t)size);
    MPI_Request *requests = malloc(sizeof(MPI_Request) * 2 * (size_t)size);
    MPI_Status *statuses = malloc(sizeof(MPI_Status) * 2 * (size_t)size);
    for (int round = 0; round < rounds; ++round) {
        for (int peer = 0; peer < size; ++peer)
            MPI_Irecv(in + peer * largest, largest, MPI_INT, peer, tag_of(thread, round), MPI_COMM_WORLD,
                      &requests[peer]);
        for (int peer = 0; peer < size; ++peer) {
            int n = size_of(me, peer, thread, round), *data = out + peer * largest;
            fill(data, n, key_of(me, peer, thread, round));
            if (round % 3 == 0)
                MPI_Issend(data, n, MPI_INT, peer, tag_of(thread, round), MPI_COMM_WORLD, &requests[size + peer]);
            else
                MPI_Isend(data, n, MPI_INT, peer, tag_of(thread, round), MPI_COMM_WORLD, &requests[size + peer]);
        }
        MPI_Waitall(2 * size, requests, statuses);
        for (int peer = 0; peer < size; ++peer) {
            int got, n = size_of(peer, me, thread, round);
            MPI_Get_count(&statuses[peer], MPI_INT, &got);
            CHECK(got == n && statuses[peer].MPI_SOURCE == peer, "%d elements from %d", got, statuses[peer].MPI_SOURCE);
            expect(in + peer * largest, n, key_of(peer, me, thread, round), "pairs");
        }
    }
    free(out), free(in), free(requests), free(statuses);
}

/* Blocking calls: thread t of a rank exchanges messages with thread t of the neighbouring rank. */
static void ping_pong(int thread) {
    int peer = me ^ 1, n = thread % 2 ? 50000 : 4, *data;
    if (peer >= size) return;
    data = malloc(sizeof(int) * (size_t)n);
    for (int round = 0; round < 50; ++round) {
        int key = thread * 64 + round;
        if (me < peer) {
            fill(data, n, key);
            MPI_Send(data, n, MPI_INT, peer, thread, MPI_COMM_WORLD);
        } else {
            MPI_Recv(data, n, MPI_INT, peer, thread, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            expect(data, n, key, "ping");
        }
        int other = -1;
        MPI_Sendrecv(&key, 1, MPI_INT, peer, 1000 + thread, &other, 1, MPI_INT, peer, 1000 + thread, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        CHECK(other == key, "round %d: %d instead of %d", round, other, key);
    }
    free(data);
}

/* A blocking send to the same rank waits until another thread receives it. */
static void to_itself(int thread) {
    int n = 100000, *data = malloc(sizeof(int) * (size_t)n);
    if (thread % 2 == 0) {
        fill(data, n, thread);
        if (thread % 4 == 0) MPI_Send(data, n, MPI_INT, me, 5000 + thread, MPI_COMM_WORLD);
        else MPI_Ssend(data, 1, MPI_INT, me, 5000 + thread, MPI_COMM_WORLD);
    } else {
        MPI_Status status;
        int got, expected = thread % 4 == 1 ? n : 1;
        MPI_Probe(me, 5000 + thread - 1, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_INT, &got);
        CHECK(got == expected, "%d elements", got);
        MPI_Recv(data, n, MPI_INT, me, 5000 + thread - 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        expect(data, got, thread - 1, "to itself");
    }
    free(data);
}

int main(int argc, char **argv) {
    start(&argc, &argv);
    run_in_threads(threads, exchange);
    run_in_threads(threads, ping_pong);
    run_in_threads(threads, to_itself);
    MPI_Finalize();
    return 0;
}
