/* SPDX-License-Identifier: BSD-3-Clause */
/* Persistent collectives: all functions on several communicators, initialized once and started repeatedly with other
 * data, completed in another order than started, together with blocking and nonblocking collectives. */
// ranks: 1 2 3 5 8
#include "tests/ranks/coll/every.h"

static MPI_Request make(int which, struct Work *w, MPI_Comm comm, int root) {
    MPI_Info const none = MPI_INFO_NULL;
    MPI_Request r = MPI_REQUEST_NULL;
    switch (which) {
    case 0: MPI_Barrier_init(comm, none, &r); break;
    case 1: MPI_Bcast_init(w->out, n, MPI_INT, root, comm, none, &r); break;
    case 2: MPI_Gather_init(w->in, n, MPI_INT, w->out, n, MPI_INT, root, comm, none, &r); break;
    case 3:
        MPI_Gatherv_init(w->in, n - rank, MPI_INT, w->out, w->counts, w->displs, MPI_INT, root, comm, none, &r);
        break;
    case 4: MPI_Scatter_init(w->in, n, MPI_INT, w->out, n, MPI_INT, root, comm, none, &r); break;
    case 5:
        MPI_Scatterv_init(w->in, w->counts, w->displs, MPI_INT, w->out, n - rank, MPI_INT, root, comm, none, &r);
        break;
    case 6: MPI_Allgather_init(w->in, n, MPI_INT, w->out, n, MPI_INT, comm, none, &r); break;
    case 7:
        MPI_Allgatherv_init(w->in, n - rank, MPI_INT, w->out, w->counts, w->displs, MPI_INT, comm, none, &r);
        break;
    case 8: MPI_Alltoall_init(w->in, n, MPI_INT, w->out, n, MPI_INT, comm, none, &r); break;
    case 9:
        for (int i = 0; i < size; ++i) w->counts[i] = n - rank - i;
        MPI_Alltoallv_init(w->in, w->counts, w->displs, MPI_INT, w->out, w->counts, w->displs, MPI_INT, comm, none, &r);
        break;
    case 10:
        for (int i = 0; i < size; ++i) w->counts[i] = n - rank - i;
        MPI_Alltoallw_init(w->in, w->counts, w->byte_displs, w->types, w->out, w->counts, w->byte_displs, w->types,
                           comm, none, &r);
        break;
    case 11: MPI_Reduce_init(w->in, w->out, n, MPI_INT, MPI_SUM, root, comm, none, &r); break;
    case 12: MPI_Allreduce_init(w->in, w->out, n, MPI_INT, MPI_SUM, comm, none, &r); break;
    case 13: MPI_Reduce_scatter_init(w->in, w->out, w->counts, MPI_INT, MPI_SUM, comm, none, &r); break;
    case 14: MPI_Reduce_scatter_block_init(w->in, w->out, n, MPI_INT, MPI_SUM, comm, none, &r); break;
    case 15: MPI_Scan_init(w->in, w->out, n, MPI_INT, MPI_SUM, comm, none, &r); break;
    case 16: MPI_Exscan_init(w->in, w->out, n, MPI_INT, MPI_SUM, comm, none, &r); break;
    }
    return r;
}

static void refill(int which, struct Work *w, int root) {
    for (int i = 0; i < n * size; ++i) {
        w->in[i] = value(rank, i);
        w->out[i] = -1;
    }
    if (which == 1 && rank == root) memcpy(w->out, w->in, sizeof(int) * n);
}

static void again_and_again(void) {
    enum { all = 2 * operations };
    MPI_Comm comms[2];
    MPI_Request requests[all], one;
    struct Work *works = malloc(sizeof *works * all);
    int const root = size / 2;
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    for (int i = 0; i < all; ++i) {
        prepare(&works[i]);
        requests[i] = make(i / 2, &works[i], comms[i % 2], root);
        CHECK(requests[i] != MPI_REQUEST_NULL, "no request of operation %d", i / 2);
    }
    for (turn = 0; turn < 6; ++turn) {
        int sum = 0, largest = 0;
        for (int i = 0; i < all; ++i) refill(i / 2, &works[i], root);
        if (turn % 2) MPI_Startall(all, requests);
        else
            for (int i = 0; i < all; ++i) MPI_Start(&requests[i]);
        MPI_Iallreduce(&size, &sum, 1, MPI_INT, MPI_SUM, comms[0], &one);
        MPI_Allreduce(&rank, &largest, 1, MPI_INT, MPI_MAX, comms[1]);
        CHECK(largest == size - 1, "the largest rank is %d", largest);
        if (turn % 3 == 2) MPI_Waitall(all, requests, MPI_STATUSES_IGNORE);
        else
            for (int i = 0; i < all; ++i) {
                int const j = (i * 5 + rank * 3) % all;
                int flag = 0;
                while (turn % 3 == 1 && !flag) MPI_Test(&requests[j], &flag, MPI_STATUS_IGNORE);
                MPI_Wait(&requests[j], MPI_STATUS_IGNORE);
                CHECK(requests[j] != MPI_REQUEST_NULL, "request %d is null", j);
            }
        MPI_Wait(&one, MPI_STATUS_IGNORE);
        CHECK(sum == size * size, "sum is %d", sum);
        for (int i = 0; i < all; ++i) verify(i / 2, &works[i], root);
    }
    for (int i = 0; i < all; ++i) MPI_Request_free(&requests[i]);
    MPI_Comm_free(&comms[0]);
    MPI_Comm_free(&comms[1]);
    free(works);
}

/* Only the initialization is ordered: ranks may start the requests in different orders, with other calls in between. */
static void any_order(void) {
    enum { many = 6, rounds = 40 };
    MPI_Request requests[many];
    int in[many], out[many];
    for (int i = 0; i < many; ++i)
        MPI_Allreduce_init(&in[i], &out[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[i]);
    for (int round = 0; round < rounds; ++round) {
        for (int i = 0; i < many; ++i) in[i] = rank + i + round;
        for (int i = 0; i < many; ++i) {
            MPI_Start(&requests[(i + rank + round) % many]);
            if (i == many / 2) MPI_Barrier(MPI_COMM_WORLD);
        }
        MPI_Waitall(many, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < many; ++i)
            CHECK(out[i] == size * (size - 1) / 2 + size * (i + round), "request %d, round %d: %d", i, round, out[i]);
    }
    for (int i = many - 1; i >= 0; --i) MPI_Request_free(&requests[i]);
}

/* Freed requests return their memory: more are created and freed than the segment has space for. */
static void made_and_freed(void) {
    for (int i = 0; i < 300; ++i) {
        MPI_Request request;
        int sum = 0;
        MPI_Allreduce_init(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(sum == size * (size - 1) / 2, "sum %d", sum);
        MPI_Request_free(&request);
    }
}

static void wrong_calls(void) {
    MPI_Request request;
    int x = rank, y = 0;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    FAILS(MPI_ERR_OP, MPI_Allreduce_init(&x, &y, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
    FAILS(MPI_ERR_ROOT, MPI_Bcast_init(&x, 1, MPI_INT, -1, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
    MPI_Allreduce_init(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    FAILS(MPI_ERR_REQUEST, MPI_Start(&request));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(y == size * (size - 1) / 2, "sum is %d", y);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Request_free(&request);
    CHECK(request == MPI_REQUEST_NULL, "%s", "the request is left");
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    again_and_again();
    any_order();
    made_and_freed();
    wrong_calls();
    MPI_Finalize();
    return 0;
}
