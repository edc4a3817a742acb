/* SPDX-License-Identifier: BSD-3-Clause */
/* Point-to-point communication on intercommunicators: ranks are those of the remote group, and messages match only
 * within the communicator. */
// ranks: 2 3 5 8
// may warn: T12
#include <string.h>

#include "tests/ranks/comm/inter.h"

static int rank, size, locals, remotes, me;
static MPI_Comm inter;

/* All sizes and send modes, long messages included, to and from each rank of the remote group. */
static void every_size(void) {
    enum { longest = 300000 };
    int *out = malloc(longest * sizeof *out), *in = malloc(longest * sizeof *in);
    for (int n = 0; n <= longest; n = n ? n * 17 : 1) {
        for (int peer = 0; peer < remotes; ++peer) {
            MPI_Request requests[2];
            MPI_Status status;
            for (int i = 0; i < n; ++i) out[i] = me * 1000 + peer * 100 + i, in[i] = -1;
            MPI_Irecv(in, n, MPI_INT, peer, n % 100, inter, &requests[0]);
            if (n % 2) MPI_Issend(out, n, MPI_INT, peer, n % 100, inter, &requests[1]);
            else MPI_Isend(out, n, MPI_INT, peer, n % 100, inter, &requests[1]);
            MPI_Wait(&requests[0], &status);
            MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
            CHECK(status.MPI_SOURCE == peer && status.MPI_TAG == n % 100, "source %d", status.MPI_SOURCE);
            for (int i = 0; i < n; ++i)
                CHECK(in[i] == peer * 1000 + me * 100 + i, "element %d of %d from %d is %d", i, n, peer, in[i]);
        }
    }
    free(out);
    free(in);
}

/* Wildcards, probes and matched probes: each rank sends its rank to all ranks of the remote group. */
static void wildcards(void) {
    char seen[64] = {0};
    MPI_Request *sends = malloc((size_t)remotes * sizeof *sends);
    for (int i = 0; i < remotes; ++i) MPI_Isend(&me, 1, MPI_INT, i, 40 + me, inter, &sends[i]);
    for (int i = 0; i < remotes; ++i) {
        int from = -1, n, flag = 0;
        MPI_Status probed, status;
        MPI_Message message;
        if (i % 3 == 0) {
            MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, inter, &probed);
            MPI_Recv(&from, 1, MPI_INT, probed.MPI_SOURCE, probed.MPI_TAG, inter, &status);
        } else if (i % 3 == 1) {
            while (!flag) MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, inter, &flag, &message, &probed);
            MPI_Mrecv(&from, 1, MPI_INT, &message, &status);
        } else {
            MPI_Recv(&from, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, inter, &status);
            probed = status;
        }
        MPI_Get_count(&status, MPI_INT, &n);
        CHECK(n == 1 && status.MPI_SOURCE == from && status.MPI_TAG == 40 + from && probed.MPI_SOURCE == from,
              "source %d, probed %d, tag %d, content %d", status.MPI_SOURCE, probed.MPI_SOURCE, status.MPI_TAG, from);
        CHECK(from >= 0 && from < remotes && !seen[from], "from %d", from);
        seen[from] = 1;
    }
    MPI_Waitall(remotes, sends, MPI_STATUSES_IGNORE);
    free(sends);
}

static void persistent_and_cancelled(void) {
    int out = rank, in = -1, peer = me % remotes, flag;
    MPI_Status status;
    if (me < locals && me < remotes) {   /* pairs of equal ranks */
        MPI_Request requests[2];
        MPI_Send_init(&out, 1, MPI_INT, peer, 9, inter, &requests[0]);
        MPI_Recv_init(&in, 1, MPI_INT, peer, 9, inter, &requests[1]);
        for (int round = 0; round < 5; ++round) {
            out = me * 10 + round;
            MPI_Startall(2, requests);
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
            CHECK(in == peer * 10 + round, "round %d: %d", round, in);
        }
        MPI_Request_free(&requests[0]);
        MPI_Request_free(&requests[1]);
    }
    MPI_Request request;
    MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 999, inter, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag, "a receive that nothing matches was not cancelled");
    MPI_Send(NULL, 0, MPI_INT, MPI_PROC_NULL, 1, inter);
    MPI_Recv(NULL, 0, MPI_INT, MPI_PROC_NULL, 1, inter, &status);
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL, "source %d", status.MPI_SOURCE);
    out = rank;
    if (me == 0) {
        MPI_Sendrecv_replace(&out, 1, MPI_INT, 0, 5, 0, 5, inter, &status);
        CHECK(out != rank && out >= 0 && out < size, "received %d", out);
    }
}

/* Wildcard receives posted on the world match no messages that the library uses to make communicators. */
static void apart(int cut) {
    int in[2] = {-1, -1};
    MPI_Request requests[2];
    MPI_Irecv(&in[0], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&in[1], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, inter, &requests[1]);
    MPI_Comm other = make_inter(cut, 1, NULL), merged;
    MPI_Intercomm_merge(other, 1, &merged);
    MPI_Comm_free(&other);
    MPI_Comm_free(&merged);
    CHECK(in[0] == -1 && in[1] == -1, "received %d and %d", in[0], in[1]);
    MPI_Barrier(MPI_COMM_WORLD);   /* no rank has sent before this */
    int world_value = 1000 + rank, value = 2000 + rank;
    MPI_Send(&world_value, 1, MPI_INT, (rank + 1) % size, 7, MPI_COMM_WORLD);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    CHECK(in[0] == 1000 + (rank + size - 1) % size, "received %d", in[0]);
    for (int i = me; i < remotes; i += locals) MPI_Send(&value, 1, MPI_INT, i, 7, inter);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    CHECK(in[1] >= 2000 && in[1] < 2000 + size, "received %d", in[1]);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int cut = 0; cut < cuts; ++cut) {
        inter = make_inter(cut, cut / 2, NULL);
        MPI_Comm_rank(inter, &me);
        MPI_Comm_size(inter, &locals);
        MPI_Comm_remote_size(inter, &remotes);
        every_size();
        MPI_Barrier(MPI_COMM_WORLD);
        wildcards();
        MPI_Barrier(MPI_COMM_WORLD);
        persistent_and_cancelled();
        MPI_Barrier(MPI_COMM_WORLD);
        apart(cut);
        MPI_Comm_free(&inter);
    }
    MPI_Finalize();
    return 0;
}
