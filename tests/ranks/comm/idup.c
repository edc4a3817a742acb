/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Comm_idup: several in flight, with other communicators in use, completed in another order. Attributes, topology
 * and hints are copied, and the original may be freed before the duplicate is complete. */
// ranks: 1 2 4 8
#include <string.h>

#include "tests/ranks/check.h"

static int copies;

static int copy_value(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag) {
    ++copies;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

/* Rank 1's request cannot complete before rank 0 calls. MPI_ERRORS_RETURN is set. */
static void used_too_early(int rank) {
    MPI_Comm twin;
    MPI_Request request;
    if (rank == 0) MPI_Recv(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Comm_idup(MPI_COMM_WORLD, &twin, &request);
    if (rank == 1) {
        FAILS(MPI_ERR_COMM, MPI_Barrier(twin));
        MPI_Send(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(MPI_Barrier(twin) == MPI_SUCCESS, "%s", "no barrier");
    MPI_Comm_free(&twin);
}

int main(int argc, char **argv) {
    enum { many = 12 };
    int rank, size, keyval, marks[2] = {0, 0}, found;
    MPI_Comm made[many], ring, twin, informed;
    MPI_Request requests[many], one;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    for (int i = 0; i < many; ++i) {
        MPI_Comm_idup(MPI_COMM_WORLD, &made[i], &requests[i]);
        CHECK(made[i] != MPI_COMM_NULL, "no handle %d", i);
        if (i % 3 == 0) MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int i = many - 1; i >= 0; --i) {
        int sum = 0, result;
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        MPI_Comm_compare(MPI_COMM_WORLD, made[i], &result);
        CHECK(result == MPI_CONGRUENT, "compared: %d", result);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, made[i]);
        CHECK(sum == size * (size - 1) / 2, "sum on %d is %d", i, sum);
    }
    /* each has its own messages */
    int const next = (rank + 1) % size, before = (rank + size - 1) % size;
    int numbers[many];
    for (int i = 0; i < many; ++i) {
        numbers[i] = i;
        MPI_Isend(&numbers[i], 1, MPI_INT, next, 5, made[i], &requests[i]);
    }
    for (int i = many - 1; i >= 0; --i) {
        int got = -1;
        MPI_Recv(&got, 1, MPI_INT, before, 5, made[i], MPI_STATUS_IGNORE);
        CHECK(got == i, "%d instead of %d", got, i);
    }
    MPI_Waitall(many, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < many; ++i) MPI_Comm_free(&made[i]);

    MPI_Comm_create_keyval(copy_value, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, (int[]){1}, 0, &ring);
    MPI_Comm_set_attr(ring, keyval, marks);
    MPI_Comm_idup(ring, &twin, &one);
    MPI_Comm_free(&ring);
    MPI_Wait(&one, MPI_STATUS_IGNORE);
    void *value = NULL;
    int kind;
    MPI_Comm_get_attr(twin, keyval, &value, &found);
    MPI_Topo_test(twin, &kind);
    CHECK(found && value == marks && copies == 1, "attribute %d, copied %d times", found, copies);
    CHECK(kind == MPI_CART, "topology %d", kind);
    MPI_Comm_free(&twin);

    MPI_Info info, used;
    char text[64] = "";
    MPI_Info_create(&info);
    MPI_Info_set(info, "tutti_coll_allreduce", "ring");
    MPI_Comm_idup_with_info(MPI_COMM_WORLD, info, &informed, &one);
    MPI_Info_free(&info);
    MPI_Wait(&one, MPI_STATUS_IGNORE);
    MPI_Comm_get_info(informed, &used);
    MPI_Info_get(used, "tutti_coll_allreduce", 63, text, &found);
    CHECK(found && strcmp(text, "ring") == 0, "hint: %s", text);
    MPI_Info_free(&used);
    MPI_Comm_free(&informed);

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    FAILS(MPI_ERR_COMM, MPI_Comm_idup(MPI_COMM_NULL, &twin, &one));
    if (size > 1) used_too_early(rank);
    FAILS(MPI_ERR_ARG, MPI_Comm_idup(MPI_COMM_WORLD, &twin, NULL));
    MPI_Comm_free_keyval(&keyval);
    MPI_Finalize();
    return 0;
}
