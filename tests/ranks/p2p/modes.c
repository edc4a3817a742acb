// SPDX-License-Identifier: BSD-3-Clause
// Each send mode, blocking, nonblocking and persistent, in sizes around each protocol limit, to each rank.
// ranks: 2 3 8
// run staged: 2 3 TUTTI_CMA=no
#include "tests/ranks/check.h"

#include <string.h>

static const int sizes[] = {0, 1, 7, 8, 9, 500, 4000, 4096, 4097, 50000, 300000};
enum { n_sizes = sizeof sizes / sizeof *sizes, most = 300000 };

typedef int blocking(const void *, int, MPI_Datatype, int, int, MPI_Comm);
typedef int starting(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

static blocking *const sends[] = {MPI_Send, MPI_Ssend, MPI_Bsend};
static starting *const isends[] = {MPI_Isend, MPI_Issend, MPI_Ibsend};
static starting *const inits[] = {MPI_Send_init, MPI_Ssend_init, MPI_Bsend_init};

static int *out, *in;
static int me, ranks;

static void fill(int n, int seed) {
    for (int i = 0; i < n; ++i) out[i] = seed * 7 + i;
}

static void expect(int n, int seed, const MPI_Status *status, int source, int tag, const char *what) {
    for (int i = 0; i < n; ++i)
        CHECK(in[i] == seed * 7 + i, "%s, %d ints from %d: element %d is %d", what, n, source, i, in[i]);
    CHECK(status->MPI_SOURCE == source && status->MPI_TAG == tag, "%s: source %d tag %d", what, status->MPI_SOURCE,
          status->MPI_TAG);
}

static void exchange(int n, int step, int mode, int tag) {
    int to = (me + step) % ranks, from = (me - step + ranks) % ranks;
    MPI_Request r[2];
    MPI_Status s[2];
    fill(n, me + tag);
    memset(in, -1, sizeof(int) * (size_t)n);
    MPI_Irecv(in, n, MPI_INT, from, tag, MPI_COMM_WORLD, &r[0]);
    sends[mode](out, n, MPI_INT, to, tag, MPI_COMM_WORLD);
    MPI_Wait(&r[0], s);
    expect(n, from + tag, s, from, tag, "blocking");

    fill(n, me + tag + 1);
    isends[mode](out, n, MPI_INT, to, tag, MPI_COMM_WORLD, &r[1]);
    MPI_Recv(in, n, MPI_INT, from, tag, MPI_COMM_WORLD, s);
    MPI_Wait(&r[1], MPI_STATUS_IGNORE);
    expect(n, from + tag + 1, s, from, tag, "nonblocking");

    inits[mode](out, n, MPI_INT, to, tag, MPI_COMM_WORLD, &r[0]);
    MPI_Recv_init(in, n, MPI_INT, from, tag, MPI_COMM_WORLD, &r[1]);
    for (int round = 0; round < 3; ++round) {
        fill(n, me + tag + round);
        MPI_Startall(2, r);
        MPI_Waitall(2, r, s);
        CHECK(r[0] != MPI_REQUEST_NULL && r[1] != MPI_REQUEST_NULL, "persistent requests became null%s", "");
        expect(n, from + tag + round, &s[1], from, tag, "persistent");
    }
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    out = malloc(sizeof(int) * most);
    in = malloc(sizeof(int) * most);
    int room = 6 * ((int)sizeof(int) * most + MPI_BSEND_OVERHEAD), size;
    void *buffer = malloc((size_t)room), *was;
    MPI_Buffer_attach(buffer, room);
    for (int mode = 0; mode < 3; ++mode)
        for (int i = 0; i < n_sizes; ++i) {
            if (ranks > 4 && sizes[i] > 50000) continue;
            for (int step = 1; step < ranks; ++step) {
                exchange(sizes[i], step, mode, 10 * mode + i);
                if (mode == 2) {   // the buffer must be empty before the next message
                    MPI_Buffer_detach(&was, &size);
                    CHECK(was == buffer && size == room, "detached %p of %d bytes", was, size);
                    MPI_Buffer_attach(buffer, room);
                }
            }
        }
    MPI_Buffer_detach(&was, &size);
    MPI_Finalize();
    return 0;
}
