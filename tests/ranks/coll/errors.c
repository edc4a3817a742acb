// SPDX-License-Identifier: BSD-3-Clause
// Wrong arguments of collectives return the right error class at the rank that passes them. A block that is too long is
// an error at its receiver and delays no other rank.
// ranks: 1 2 4
#include "tests/ranks/coll/patterns.h"

static int rank, size;

static void expect(int code, int class, const char *call) {
    int got;
    char text[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_class(code, &got);
    MPI_Error_string(code, text, &length);
    CHECK(got == class, "%s: class %d instead of %d: %s", call, got, class, text);
    CHECK(code == MPI_SUCCESS || strstr(text, call) != NULL, "%s does not name its call: %s", call, text);
}

/* All ranks make each of these calls with the same arguments, so no rank waits for another. */
static void arguments(void) {
    int a[64] = {0}, b[64] = {0}, counts[64] = {0}, displs[64] = {0}, negative[64] = {0};
    MPI_Datatype uncommitted, types[64];
    negative[size - 1] = -1;
    for (int i = 0; i < 64; ++i) types[i] = MPI_INT;
    MPI_Type_contiguous(2, MPI_INT, &uncommitted);

    expect(MPI_Barrier(MPI_COMM_NULL), MPI_ERR_COMM, "MPI_Barrier");
    expect(MPI_Bcast(a, 1, MPI_INT, size, MPI_COMM_WORLD), MPI_ERR_ROOT, "MPI_Bcast");
    expect(MPI_Bcast(a, 1, MPI_INT, -1, MPI_COMM_WORLD), MPI_ERR_ROOT, "MPI_Bcast");
    expect(MPI_Bcast(a, -1, MPI_INT, 0, MPI_COMM_WORLD), MPI_ERR_COUNT, "MPI_Bcast");
    expect(MPI_Bcast(NULL, 1, MPI_INT, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER, "MPI_Bcast");
    expect(MPI_Bcast(MPI_IN_PLACE, 1, MPI_INT, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER, "MPI_Bcast");
    expect(MPI_Bcast(a, 1, uncommitted, 0, MPI_COMM_WORLD), MPI_ERR_TYPE, "MPI_Bcast");
    expect(MPI_Bcast(a, 1, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD), MPI_ERR_TYPE, "MPI_Bcast");
    expect(MPI_Bcast(NULL, 0, MPI_INT, 0, MPI_COMM_WORLD), MPI_SUCCESS, "MPI_Bcast");

    expect(MPI_Allreduce(a, b, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD), MPI_ERR_OP, "MPI_Allreduce");
    expect(MPI_Allreduce(a, b, 1, MPI_DOUBLE, MPI_BAND, MPI_COMM_WORLD), MPI_ERR_OP, "MPI_Allreduce");
    expect(MPI_Allreduce(a, b, 1, MPI_INT, MPI_MINLOC, MPI_COMM_WORLD), MPI_ERR_OP, "MPI_Allreduce");
    expect(MPI_Allreduce(a, a, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_BUFFER, "MPI_Allreduce");
    expect(MPI_Allreduce(a, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_BUFFER, "MPI_Allreduce");
    expect(MPI_Allreduce(NULL, b, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_BUFFER, "MPI_Allreduce");
    expect(MPI_Allreduce(NULL, b, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_SUCCESS, "MPI_Allreduce");
    expect(MPI_Allreduce(a, b, -2, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_COUNT, "MPI_Allreduce");
    expect(MPI_Reduce(a, a, 1, MPI_INT, MPI_SUM, rank, MPI_COMM_SELF), rank == 0 ? MPI_ERR_BUFFER : MPI_ERR_ROOT,
           "MPI_Reduce");
    expect(MPI_Scan(a, a, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_BUFFER, "MPI_Scan");
    expect(MPI_Exscan(a, a, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_BUFFER, "MPI_Exscan");
    expect(MPI_Reduce_scatter(a, b, negative, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_COUNT, "MPI_Reduce_scatter");
    expect(MPI_Reduce_scatter(a, b, NULL, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_ARG, "MPI_Reduce_scatter");
    expect(MPI_Reduce_scatter_block(a, b, -1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_COUNT,
           "MPI_Reduce_scatter_block");

    expect(MPI_Gather(a, 1, MPI_INT, a, 1, MPI_INT, 0, MPI_COMM_SELF), MPI_ERR_BUFFER, "MPI_Gather");
    expect(MPI_Gather(a, -1, MPI_INT, b, 1, MPI_INT, 0, MPI_COMM_WORLD), MPI_ERR_COUNT, "MPI_Gather");
    expect(MPI_Gather(a, 1, uncommitted, b, 1, MPI_INT, 0, MPI_COMM_WORLD), MPI_ERR_TYPE, "MPI_Gather");
    expect(MPI_Gatherv(a, 1, MPI_INT, b, negative, displs, MPI_INT, 0, MPI_COMM_SELF),
           size == 1 ? MPI_ERR_COUNT : MPI_ERR_TRUNCATE, "MPI_Gatherv");
    expect(MPI_Scatter(a, 1, MPI_INT, b, 1, MPI_INT, size + 3, MPI_COMM_WORLD), MPI_ERR_ROOT, "MPI_Scatter");
    expect(MPI_Scatterv(a, NULL, displs, MPI_INT, b, 1, MPI_INT, 0, MPI_COMM_SELF), MPI_ERR_ARG, "MPI_Scatterv");
    expect(MPI_Allgather(a, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, MPI_COMM_WORLD), MPI_ERR_BUFFER, "MPI_Allgather");
    expect(MPI_Allgatherv(a, 1, MPI_INT, b, negative, displs, MPI_INT, MPI_COMM_WORLD), MPI_ERR_COUNT,
           "MPI_Allgatherv");
    expect(MPI_Alltoall(a, 1, MPI_INT, NULL, 1, MPI_INT, MPI_COMM_WORLD), MPI_ERR_BUFFER, "MPI_Alltoall");
    expect(MPI_Alltoallv(a, negative, displs, MPI_INT, b, counts, displs, MPI_INT, MPI_COMM_WORLD), MPI_ERR_COUNT,
           "MPI_Alltoallv");
    types[0] = uncommitted;
    expect(MPI_Alltoallw(a, counts, displs, types, b, counts, displs, types, MPI_COMM_WORLD), MPI_ERR_TYPE,
           "MPI_Alltoallw");
    MPI_Type_free(&uncommitted);
}

/* The last rank expects fewer elements than the others send, around each size at which the algorithm changes. */
static void truncation(int n) {
    int last = size - 1, room = rank == last ? n - 1 : n, class = rank == last ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
    int *a = filled(n * size, 0), *b = filled(n * size, 0), counts[64], displs[64];
    for (int i = 0; i < size; ++i) counts[i] = room, displs[i] = i * n;
    expect(MPI_Gather(a, n, MPI_INT, b, rank == last ? n - 1 : n, MPI_INT, last, MPI_COMM_WORLD), class, "MPI_Gather");
    expect(MPI_Gatherv(a, n, MPI_INT, b, counts, displs, MPI_INT, last, MPI_COMM_WORLD), class, "MPI_Gatherv");
    expect(MPI_Scatter(a, n, MPI_INT, b, room, MPI_INT, 0, MPI_COMM_WORLD), class, "MPI_Scatter");
    expect(MPI_Allgather(a, n, MPI_INT, b, room, MPI_INT, MPI_COMM_WORLD), class, "MPI_Allgather");
    expect(MPI_Alltoall(a, n, MPI_INT, b, room, MPI_INT, MPI_COMM_WORLD), class, "MPI_Alltoall");
    expect(MPI_Alltoallv(a, counts, displs, MPI_INT, b, displs, displs, MPI_INT, MPI_COMM_SELF), MPI_ERR_TRUNCATE,
           "MPI_Alltoallv");
    free(a), free(b);
}

/* The last rank passes blocks of k elements on both sides, all others blocks of n elements, which are longer. */
static void another_size(int n, int k) {
    int last = size - 1, mine = rank == last ? k : n, alone = size == 1;
    int long_for_last = rank == last && !alone ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
    int *a = filled(n * size, 0), *b = filled(n * size, 0);
    expect(MPI_Alltoall(a, mine, MPI_INT, b, mine, MPI_INT, MPI_COMM_WORLD), long_for_last, "MPI_Alltoall");
    expect(MPI_Allgather(a, mine, MPI_INT, b, mine, MPI_INT, MPI_COMM_WORLD), long_for_last, "MPI_Allgather");
    expect(MPI_Gather(a, mine, MPI_INT, b, mine, MPI_INT, last, MPI_COMM_WORLD), long_for_last, "MPI_Gather");
    expect(MPI_Gather(a, mine, MPI_INT, b, mine, MPI_INT, 0, MPI_COMM_WORLD), MPI_SUCCESS, "MPI_Gather");
    expect(MPI_Scatter(a, mine, MPI_INT, b, mine, MPI_INT, 0, MPI_COMM_WORLD), long_for_last, "MPI_Scatter");
    expect(MPI_Scatter(a, mine, MPI_INT, b, mine, MPI_INT, last, MPI_COMM_WORLD), MPI_SUCCESS, "MPI_Scatter");
    for (int i = 0; i < n * size; ++i) a[i] = rank * 1000 + i, b[i] = -1;
    expect(MPI_Alltoall(a, k, MPI_INT, b, k, MPI_INT, MPI_COMM_WORLD), MPI_SUCCESS, "MPI_Alltoall");
    CHECK(b[last * k] == last * 1000 + rank * k, "the correct alltoall afterwards returns %d", b[last * k]);
    free(a), free(b);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    arguments();
    const int sizes[] = {2, 15, 1000, 2049, 5000, 100000};
    for (int i = 0; i < 6; ++i) truncation(sizes[i]);
    another_size(3, 2), another_size(15, 14), another_size(400, 2), another_size(2000, 10);
    MPI_Finalize();
    return 0;
}
