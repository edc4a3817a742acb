// SPDX-License-Identifier: BSD-3-Clause
// Eight threads of a rank receive from any source with any tag, concurrently by receives, probes and matched probes:
// each message arrives exactly once, complete, and in order per sender and tag as far as one thread can observe it.
// ranks: 1 2 4
// may warn: T12
#include <stdatomic.h>

#include "tests/ranks/threads/threads.h"

enum { threads = 8, each = 120, largest = 6000 };   /* messages that each thread sends to each rank */

static MPI_Comm comms[3];
static atomic_int left[3];
static atomic_int seen[64 * threads * each];

static int length_of(int key) { return 2 + (key * 37) % (key % 5 ? 40 : largest - 2); }

/* The first two numbers of a message are its key and its length. */
static void take(const int *data, int n, MPI_Status *status) {
    int got, key = data[0];
    MPI_Get_count(status, MPI_INT, &got);
    CHECK(got == n && n == length_of(key) && data[1] == n, "%d elements of message %d", n, key);
    CHECK(status->MPI_SOURCE == key / (threads * each), "message %d has source %d", key, status->MPI_SOURCE);
    expect(data + 2, n - 2, key, "wildcards");
    CHECK(atomic_fetch_add(&seen[key], 1) == 0, "message %d was received twice", key);
}

static void send_all(int thread, MPI_Comm comm) {
    int *data = malloc(sizeof(int) * largest);
    unsigned seed = (unsigned)(me * threads + thread + 1);
    for (int i = 0; i < each; ++i) {
        int key = (me * threads + thread) * each + i, n = length_of(key);
        data[0] = key;
        data[1] = n;
        fill(data + 2, n - 2, key);
        for (int to = 0; to < size; ++to) {
            MPI_Request request;
            int done = 0;
            MPI_Isend(data, n, MPI_INT, to, (int)next_random(&seed, 30000), comm, &request);
            if (i % 2) while (!done) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
            else MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
    }
    free(data);
}

/* Half of the threads send; the other half receive until all messages have arrived. */
static void receive_all(int how, MPI_Comm comm) {
    int *data = malloc(sizeof(int) * largest), n;
    MPI_Status status;
    while (atomic_fetch_sub(&left[how], 1) > 0) {
        if (how == 0) {
            MPI_Recv(data, largest, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
            MPI_Get_count(&status, MPI_INT, &n);
        } else if (how == 1) {
            MPI_Message message;
            MPI_Status found;
            MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &message, &found);
            MPI_Get_count(&found, MPI_INT, &n);
            MPI_Mrecv(data, n, MPI_INT, &message, &status);
            CHECK(status.MPI_TAG == found.MPI_TAG && message == MPI_MESSAGE_NULL, "tag %d", status.MPI_TAG);
        } else {
            MPI_Message message;
            MPI_Request request;
            int flag = 0;
            while (!flag) MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, &message, &status);
            MPI_Get_count(&status, MPI_INT, &n);
            MPI_Imrecv(data, n, MPI_INT, &message, &request);
            MPI_Wait(&request, &status);
        }
        take(data, n, &status);
    }
    free(data);
}

static int how;
static void body(int thread) {
    if (thread % 2) receive_all(how, comms[how]);
    else send_all(thread, comms[how]);
}

int main(int argc, char **argv) {
    start(&argc, &argv);
    for (how = 0; how < 3; ++how) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[how]);
        int const all = size * (threads / 2) * each;
        atomic_store(&left[how], all);
        run_in_threads(threads, body);
        int count = 0;
        for (int key = 0; key < size * threads * each; ++key) count += atomic_exchange(&seen[key], 0);
        CHECK(count == all, "%d messages of %d", count, all);
        MPI_Comm_free(&comms[how]);
    }
    MPI_Finalize();
    return 0;
}
