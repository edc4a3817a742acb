/* SPDX-License-Identifier: BSD-3-Clause */
/* Nonblocking collectives: all functions in flight on several communicators, completed in another order than started;
 * more in flight than a communicator has channels; objects freed meanwhile. */
// ranks: 1 2 3 5 8
#include "tests/ranks/coll/every.h"

static MPI_Request begin(int which, struct Work *w, MPI_Comm comm, int root) {
    MPI_Request r = MPI_REQUEST_NULL;
    switch (which) {
    case 0: MPI_Ibarrier(comm, &r); break;
    case 1:
        if (rank == root) memcpy(w->out, w->in, sizeof(int) * n);
        MPI_Ibcast(w->out, n, MPI_INT, root, comm, &r);
        break;
    case 2: MPI_Igather(w->in, n, MPI_INT, w->out, n, MPI_INT, root, comm, &r); break;
    case 3: MPI_Igatherv(w->in, n - rank, MPI_INT, w->out, w->counts, w->displs, MPI_INT, root, comm, &r); break;
    case 4: MPI_Iscatter(w->in, n, MPI_INT, w->out, n, MPI_INT, root, comm, &r); break;
    case 5: MPI_Iscatterv(w->in, w->counts, w->displs, MPI_INT, w->out, n - rank, MPI_INT, root, comm, &r); break;
    case 6: MPI_Iallgather(w->in, n, MPI_INT, w->out, n, MPI_INT, comm, &r); break;
    case 7: MPI_Iallgatherv(w->in, n - rank, MPI_INT, w->out, w->counts, w->displs, MPI_INT, comm, &r); break;
    case 8: MPI_Ialltoall(w->in, n, MPI_INT, w->out, n, MPI_INT, comm, &r); break;
    case 9:
        for (int i = 0; i < size; ++i) w->counts[i] = n - rank - i;
        MPI_Ialltoallv(w->in, w->counts, w->displs, MPI_INT, w->out, w->counts, w->displs, MPI_INT, comm, &r);
        break;
    case 10:
        for (int i = 0; i < size; ++i) w->counts[i] = n - rank - i;
        MPI_Ialltoallw(w->in, w->counts, w->byte_displs, w->types, w->out, w->counts, w->byte_displs, w->types, comm,
                       &r);
        break;
    case 11: MPI_Ireduce(w->in, w->out, n, MPI_INT, MPI_SUM, root, comm, &r); break;
    case 12: MPI_Iallreduce(w->in, w->out, n, MPI_INT, MPI_SUM, comm, &r); break;
    case 13: MPI_Ireduce_scatter(w->in, w->out, w->counts, MPI_INT, MPI_SUM, comm, &r); break;
    case 14: MPI_Ireduce_scatter_block(w->in, w->out, n, MPI_INT, MPI_SUM, comm, &r); break;
    case 15: MPI_Iscan(w->in, w->out, n, MPI_INT, MPI_SUM, comm, &r); break;
    case 16: MPI_Iexscan(w->in, w->out, n, MPI_INT, MPI_SUM, comm, &r); break;
    }
    return r;
}

static void concurrently(void) {
    MPI_Comm comms[2];
    MPI_Request requests[2 * operations];
    struct Work *works = malloc(sizeof *works * 2 * operations);
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    for (turn = 0; turn < 5; ++turn) {
        int const all = 2 * operations, root = turn % size;
        for (int i = 0; i < all; ++i) {
            prepare(&works[i]);
            requests[i] = begin(i / 2, &works[i], comms[i % 2], root);
        }
        if (turn == 4) {   // pending operations do not need the handles
            MPI_Comm_free(&comms[0]);
            MPI_Comm_free(&comms[1]);
        }
        if (turn % 2 == 0) {
            for (int i = 0; i < all; ++i) {
                int const j = (i * 5 + rank * 3) % all;
                MPI_Wait(&requests[j], MPI_STATUS_IGNORE);
            }
        } else {
            for (int left = all; left > 0; --left) {
                int j = -1;
                MPI_Waitany(all, requests, &j, MPI_STATUS_IGNORE);
                CHECK(j >= 0 && j < all, "Waitany gave %d", j);
            }
        }
        for (int i = 0; i < all; ++i) {
            CHECK(requests[i] == MPI_REQUEST_NULL, "request %d is left", i);
            verify(i / 2, &works[i], root);
        }
    }
    free(works);
}

/* One communicator has a limited number of channels; further operations are queued. */
static void long_queue(void) {
    enum { many = 300 };
    MPI_Request requests[many];
    int in[many], out[many];
    for (int i = 0; i < many; ++i) {
        in[i] = rank + i;
        MPI_Iallreduce(&in[i], &out[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[i]);
    }
    int mine = rank, all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);   // a blocking call after them
    CHECK(all == size - 1, "maximum is %d", all);
    for (int i = many - 1; i >= 0; --i) {
        MPI_Status status;
        MPI_Wait(&requests[i], &status);
        CHECK(out[i] == size * (size - 1) / 2 + size * i, "sum %d is %d", i, out[i]);
    }
}

static void user_sum(void *in, void *inout, int *count, MPI_Datatype *type) {
    for (int i = 0; i < *count; ++i) ((int *)inout)[i] += ((int *)in)[i];
    (void)type;
}

/* Frees datatype and operator as soon as the call has returned. */
static void freed_objects(void) {
    MPI_Datatype pairs;
    MPI_Op op;
    MPI_Request requests[2];
    int in[6] = {rank, 1, 2, 3, 4, 5}, out[6] = {0}, spread[6] = {0};
    MPI_Type_vector(3, 1, 2, MPI_INT, &pairs);
    MPI_Type_commit(&pairs);
    MPI_Op_create(user_sum, 1, &op);
    MPI_Iallreduce(in, out, 6, MPI_INT, op, MPI_COMM_WORLD, &requests[0]);
    if (rank == 0) memcpy(spread, (int[]){7, 0, 8, 0, 9, 0}, sizeof spread);
    MPI_Ibcast(spread, 1, pairs, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Type_free(&pairs);
    MPI_Op_free(&op);
    for (int flag = 0; !flag;) MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
    CHECK(out[0] == size * (size - 1) / 2 && out[5] == 5 * size, "%d and %d", out[0], out[5]);
    CHECK(spread[0] == 7 && spread[2] == 8 && spread[4] == 9 && spread[1] == 0, "%d %d", spread[0], spread[2]);
}

/* A message longer than a fragment, with gaps at every second rank only. */
static void fragments(void) {
    int const count = 600000;
    int *data = calloc((size_t)count * 2, sizeof(int));
    double *sums = malloc(sizeof(double) * (size_t)count);
    MPI_Datatype sparse;
    MPI_Request requests[2];
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &sparse);
    MPI_Type_commit(&sparse);
    int const step = rank % 2 ? 2 : 1;
    if (rank == 0)
        for (int i = 0; i < count; ++i) data[i] = i ^ 12345;
    for (int i = 0; i < count; ++i) sums[i] = rank + i;
    MPI_Ibcast(data, count, step == 2 ? sparse : MPI_INT, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Iallreduce(MPI_IN_PLACE, sums, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < count; ++i) {
        CHECK(data[i * step] == (i ^ 12345), "element %d is %d", i, data[i * step]);
        CHECK(sums[i] == size * (size - 1) / 2 + (double)size * i, "sum %d is %g", i, sums[i]);
    }
    MPI_Type_free(&sparse);
    free(data);
    free(sums);
}

static void wrong_calls(void) {
    MPI_Request request;
    int x = 0;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    FAILS(MPI_ERR_ROOT, MPI_Ibcast(&x, 1, MPI_INT, size, MPI_COMM_WORLD, &request));
    FAILS(MPI_ERR_COUNT, MPI_Iallreduce(&x, &request, -1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request));
    FAILS(MPI_ERR_TYPE, MPI_Ialltoall(&x, 1, MPI_DATATYPE_NULL, &x, 1, MPI_INT, MPI_COMM_WORLD, &request));
    FAILS(MPI_ERR_ARG, MPI_Ibarrier(MPI_COMM_WORLD, NULL));
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    concurrently();
    long_queue();
    freed_objects();
    fragments();
    wrong_calls();
    MPI_Finalize();
    return 0;
}
