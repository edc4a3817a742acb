/* SPDX-License-Identifier: BSD-3-Clause */
/* Nonblocking and persistent collectives on intercommunicators: many in flight, completed in another order, and with
 * the communicator freed meanwhile; on an intercommunicator and on its local communicator. */
// ranks: 2 3 5 8
#include "tests/ranks/coll/inter_every.h"

/* The side of the root alternates between operations. */
static int is_ours(struct Sides const *s, int which, int low_side) { return (which % 2 == 0) == low_side; }

static void concurrently(struct Sides const *s, int low_side, enum form form, int n) {
    MPI_Request requests[operations];
    struct Work *works[operations];
    int const at = 0;
    for (int i = 0; i < operations; ++i) {
        works[i] = prepare(s, n);
        requests[i] = call(form, i, s, works[i], is_ours(s, i, low_side), at);
    }
    for (int round = 0; round < (form == persistent ? 3 : 1); ++round) {
        if (form == persistent) {
            for (int i = 0; i < operations; ++i)
                for (int k = 0; k < works[i]->room; ++k) works[i]->out[k] = -1;
            MPI_Startall(operations, requests);
        }
        for (int i = 0; i < operations; ++i) MPI_Wait(&requests[(i * 5 + rank * 3) % operations], MPI_STATUS_IGNORE);
        for (int i = 0; i < operations; ++i) verify(i, s, works[i], is_ours(s, i, low_side), at);
    }
    for (int i = 0; i < operations; ++i) {
        if (form == persistent) MPI_Request_free(&requests[i]);
        discard(works[i]);
    }
    ++turn;
}

/* More operations in flight than there are channels, mixed with a blocking call on the world; the communicator is freed
 * first. */
static void freed_in_flight(struct Sides *s, int low_side) {
    enum { many = 40 };
    MPI_Request requests[many];
    struct Work *works[many];
    for (int i = 0; i < many; ++i) {
        int const which = 1 + i % 16;
        works[i] = prepare(s, 100);
        requests[i] = call(nonblocking, which, s, works[i], is_ours(s, which, low_side), 0);
    }
    int one = 1, all = 0;
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all == size, "sum %d", all);
    MPI_Comm_free(&s->comm);
    MPI_Waitall(many, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < many; ++i) {
        verify(1 + i % 16, s, works[i], is_ours(s, 1 + i % 16, low_side), 0);
        discard(works[i]);
    }
}

int main(int argc, char **argv) {
    begin_tests(&argc, &argv);
    for (int cut = 0; cut < cuts; ++cut) {
        struct Sides s = sides_of(make_inter(cut, cut % 2, NULL));
        int const low_side = side_of(cut, rank, size) == 0;
        concurrently(&s, low_side, nonblocking, 1);
        concurrently(&s, low_side, nonblocking, 3000);
        concurrently(&s, low_side, persistent, 60);
        concurrently(&s, low_side, persistent, 3000);
        freed_in_flight(&s, low_side);
    }
    end_tests();
    return 0;
}
